"""Every page of a study as workers see it: each in a copy of its own that is thrown away, reached by the simulated browser."""
