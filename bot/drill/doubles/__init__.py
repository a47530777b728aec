"""Loopback doubles of hosted services: the real wire, the real refusals, accidents on request."""
