"""Remembers: the only SQL of the house."""
