"""What each kind of task shows, read from collections and runs, and which pairs it judges.

Slow to import: the kinds import it where they read.
"""
