"""Doubts about the decay of lateness: `calibration.models.lateness`."""
