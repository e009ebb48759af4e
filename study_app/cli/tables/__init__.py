"""Commands about tables."""
