"""Integrations with other libraries, one module for each; none is imported unless it is used."""
