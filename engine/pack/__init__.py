"""The context pack: everything known before a model runs, gathered without one."""
