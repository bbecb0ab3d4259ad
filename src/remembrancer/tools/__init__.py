"""Tools that models call to use a memory, independent of any protocol."""
