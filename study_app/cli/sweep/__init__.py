"""`prefcal sweep`: one measure at many points; one command a measure family."""
