"""`prefcal score`."""
