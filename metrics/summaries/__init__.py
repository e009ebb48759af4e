"""Two-layered summaries: the trailtext, its offsets, U- and M-measure."""
