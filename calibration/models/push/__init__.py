"""Weights of push notifications, and T11U's alpha, from preferences.

The preferences are between push streams. Read in this order: `judgments`, `columns`, `weights`, `alpha`, `simulate`. Doubts about both are
in `calibration.checks.push`.
"""
