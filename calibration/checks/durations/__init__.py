"""Doubts about times away and sessions, one file each.

Data is the `CensoredDurations` that the fit read.
"""
