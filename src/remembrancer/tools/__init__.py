"""The verbs of a memory as tools that models call; knows no protocol."""
