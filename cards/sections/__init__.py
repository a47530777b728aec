"""The parts a card is put together from, one a file."""
