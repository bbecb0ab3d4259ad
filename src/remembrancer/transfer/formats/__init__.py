"""Readers for the files of other products, one module for each format.

A reader yields import items, knows no store, and treats all input as untrusted.
"""
