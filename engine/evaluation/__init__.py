"""How good findings are, measured against what was really wrong."""
