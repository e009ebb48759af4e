"""Judges that are no people: their verdicts, and what these are worth.

Verdicts are split off before anything counts (`verdicts`). `resolved` makes one a pair of answers in two orders and over repeats,
`beside_people` holds them against people's votes, `people_in_turn` against each person, and `numbers` writes the rows of judge.csv.
"""
