"""Commands about measures and their agreement."""
