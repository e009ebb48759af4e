"""Doubts about times away and sessions, one file each; data is the `Exposure` that the fit read."""
