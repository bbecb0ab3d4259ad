"""Memory where people already are: one module for each library, loaded only by whoever has it."""
