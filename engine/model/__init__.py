"""Frozen values the engine thinks in."""
