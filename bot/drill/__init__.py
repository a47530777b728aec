"""The rehearsal: scenarios, a model that plays its part, and the services Caveat speaks to."""
