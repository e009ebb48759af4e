"""Patience L: from preferences, from stops, by the paper's grid, and how it differs between people.

Read in this order: `pairs`, `preferences`, `stops`, `grid`, `spread`, `simulate`. Doubts are in `calibration.checks.patience`.
"""
