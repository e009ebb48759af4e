"""The user model as a value and as a file."""
