"""Every tool a model may ask, one a file."""
