"""`prefcal plan`."""
