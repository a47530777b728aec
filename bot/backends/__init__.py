"""Adapters to what the engine needs: models, time, queues."""
