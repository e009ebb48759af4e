"""Reading of each kind's contents from collections and runs.

Slow to import: the kinds import it where they read.
"""
