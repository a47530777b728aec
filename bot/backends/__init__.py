"""What the engine's ports are made of: models, time, bounded HTTP, breakers."""
