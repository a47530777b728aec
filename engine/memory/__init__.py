"""What was learned, found again: the words of a symptom and how rare each of them is."""
