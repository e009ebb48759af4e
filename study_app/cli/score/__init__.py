"""`prefcal score`: one command a measure family."""
