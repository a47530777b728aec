"""The two jobs of an incident: its facts card at once, its investigation once it has settled."""
