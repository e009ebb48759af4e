"""Naive estimators that are wrong on purpose, for the docs; no part of prefcal."""
