"""What the engine's ports are made of: time, bounded HTTP, breakers."""
