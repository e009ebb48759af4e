"""User-model parameters from logs: tidy tables in, fitted parameters with intervals out.

May import `metrics`, never `study_app`.
"""
