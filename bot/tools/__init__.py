"""Read-only backends, each behind the engine's ports."""
