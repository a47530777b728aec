"""Cases with a known cause, judged through the engine as real ones are."""
