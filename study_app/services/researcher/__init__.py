"""What the researcher does with a study: one use case = one function."""
