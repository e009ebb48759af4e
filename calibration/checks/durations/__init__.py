"""Doubts about times away and sessions, one file each.

The data are the `CensoredDurations` that the fit read.
"""
