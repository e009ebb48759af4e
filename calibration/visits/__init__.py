"""Visits to a stream, cut from signs of life."""
