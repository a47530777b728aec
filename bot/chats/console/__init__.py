"""The chats cards are shown in; one folder each, behind one protocol."""
