"""From conversations to memories: read, check against the evidence, reconcile, store."""
