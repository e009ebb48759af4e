"""Doubts about persistence in ranked lists: `calibration.models.persistence`."""
