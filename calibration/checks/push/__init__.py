"""Doubts about the weights of pushes and about alpha: `calibration.models.push`.

Each check takes a `PushFit` or an `AlphaFit`, and the judgments that it was fitted to.
"""
