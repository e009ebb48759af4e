"""Command `prefcal serve`."""
