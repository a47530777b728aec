"""What `caveat check` looks at: one part a file, each a function that gives lines."""
