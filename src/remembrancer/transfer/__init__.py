"""Taking memories out of a store and into another one: backups, restoring, moving."""
