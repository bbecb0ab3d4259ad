"""Memory where people already are: in other programs, by the interfaces that these offer."""
