"""Shared methods of inference: maximisation, clusters, intervals, choice, results.

In go arrays and likelihoods; out come results (`results`), trials that may fail (`attempts`), ways of saying how far estimates
may be off (`uncertainty`, `clusters`), the top of a likelihood (`maximise`), the model of a choice with ties (`choice`), tests of
a law and what is few (`goodness`), numbers in words and what plots share (`wording`). Uses `calibration.user_model` for the
entries of a model file; knows no family.
"""
