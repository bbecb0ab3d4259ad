"""Team memory: proposals, corroboration, review, recall."""
