"""What each kind of task shows, read from collections and runs. Slow to import: the kinds import it where they read."""
