"""Doubts about probabilities of intents: `calibration.models.intents`."""
