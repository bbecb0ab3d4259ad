"""What other products and people keep their memories in: one module for each kind of file.

A module reads and tells what it found, as pieces; it knows no store, and trusts nothing it reads.
"""
