"""How a person says something: agreement, change, doubt and pasted text, in four languages."""
