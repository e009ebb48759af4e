"""`prefcal sweep`: one command a measure that is scored for many populations."""
