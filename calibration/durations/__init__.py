"""Away times and session lengths."""
