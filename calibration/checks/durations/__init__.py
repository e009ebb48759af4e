"""Doubts about times away and sessions, one file each; data is the `CensoredDurations` that the fit read."""
