"""Questions people ask by themselves: what they are about, and since when."""
