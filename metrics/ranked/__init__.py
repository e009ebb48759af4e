"""Ranked lists: time-aware and intent-aware measures."""
