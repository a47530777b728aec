"""What a press does, one act or pair of acts a file."""
