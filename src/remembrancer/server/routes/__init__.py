"""One module per resource; each makes a router that `app.py` puts in its place."""
