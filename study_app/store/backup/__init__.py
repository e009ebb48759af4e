"""A copy of a database in use, and back."""
