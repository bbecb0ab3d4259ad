"""The names, numbers and dates in what a person says, in four languages."""
