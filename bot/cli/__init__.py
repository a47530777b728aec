"""The `caveat` command."""
