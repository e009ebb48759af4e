"""The study file: what it may say, its faults, platforms."""
