"""Thinks: evidence, judgement and trust, without any I/O."""
