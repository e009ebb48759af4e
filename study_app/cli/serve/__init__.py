"""`prefcal serve`."""
