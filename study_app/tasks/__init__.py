"""What a kind of task shows, read from collections and runs."""
