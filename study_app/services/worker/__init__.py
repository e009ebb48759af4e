"""What a worker does: one use case = one function, the session first."""
