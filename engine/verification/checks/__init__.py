"""Kinds of contrast check, one a file."""
