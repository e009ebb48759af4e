"""The decay of lateness."""
