"""Modeled Stream Utility: simulated people who come back to a stream of updates."""
