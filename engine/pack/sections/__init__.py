"""The parts of a pack, a file each."""
