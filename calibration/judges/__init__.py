"""Judges that are no people, beside people: their verdicts, split off before anything counts, and what these are worth."""
