"""Doubts about patience: `calibration.models.patience`."""
