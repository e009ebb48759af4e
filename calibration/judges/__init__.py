"""Judges that are no people: their verdicts, and what these are worth.

Verdicts are split off before anything counts.
"""
