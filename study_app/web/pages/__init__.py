"""What each page shows: one value a template."""
