"""`prefcal db`."""
