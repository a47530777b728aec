"""Our web server."""
