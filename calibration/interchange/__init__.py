"""Preferences, visits and scores from and for other tools."""
