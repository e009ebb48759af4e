"""`prefcal demo` and `prefcal simulate`."""
