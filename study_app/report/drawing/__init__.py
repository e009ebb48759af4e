"""Figures of the report, and the style of figures and page."""
