"""P(i|q), the probabilities of intents, from votes.

In go tables intent_votes and intents; out come probabilities and, with the importance of iUnits, the files of a MobileClick
collection (`fit`); and naive baselines (`naive`). Uses `calibration.inference` and `calibration.tables`.
"""
