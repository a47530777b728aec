"""Touches the world: chats, HTTP, backends, the command line."""
