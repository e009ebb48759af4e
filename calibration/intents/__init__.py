"""P(i|q), the probabilities of intents, from votes.

In go tables intent_votes and intents; out come probabilities (`fit`), naive baselines (`naive`) and the files of a MobileClick
collection, with the importance of iUnits (`fit`). Uses `calibration.inference` and `calibration.tables`.
"""
