"""Rehearsed failures: what is planted, which alerts fire, what changed; one a file."""
