"""Reading of each kind's contents from collections and runs.

It is slow to import: the kinds import it where they read.
"""
