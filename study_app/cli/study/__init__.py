"""`prefcal study`."""
