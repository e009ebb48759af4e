"""Doubts about reading speed: `calibration.models.reading`."""
