"""The PostgreSQL we run ourselves: its programs, its account, its folders, its files."""
