"""REST routes, one module per resource; `app` mounts their routers."""
