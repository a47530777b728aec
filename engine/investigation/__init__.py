"""What is said to a model, and how its replies are read."""
