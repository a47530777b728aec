"""What people may do, and what comes of it: authority first, one transaction a press."""
