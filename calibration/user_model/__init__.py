"""The fitted people: one way from a user model to measures, to draws of them, and to scores with intervals.

In: user-model.json (`model`) and what a family scores. Out: the model in the words of the measures (`measures`), draws
of it (`draws`), and what a family takes from it (`summaries`, `push`, `msu`, `ranked`) over one loop (`scores`).
May use `metrics` alone.
"""
