"""Laws of durations other than the plain one, compared with it, and which of what may be wrong with the plain one is."""
