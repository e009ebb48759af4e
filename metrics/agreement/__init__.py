"""Agreement of measures with preferences, its ceiling, comparisons of measures, rank correlation."""
