"""What a provider's answer means for the triage: its class, its kind and how long to wait."""
