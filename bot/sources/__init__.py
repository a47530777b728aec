"""What senders say, as alerts and changes: pure parsers, one a file."""
