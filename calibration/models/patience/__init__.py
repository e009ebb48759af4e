"""Patience L: from preferences, from stops, by the paper's grid, and its spread.

Read in this order: `pairs`, `preferences`, `stops`, `grid`, `spread`, `simulate`. Doubts are in `calibration.checks.patience`.
"""
