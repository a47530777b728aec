"""Cards in the markup of each surface; every renderer is total."""
