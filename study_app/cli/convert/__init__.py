"""`prefcal convert`."""
