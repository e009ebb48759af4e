"""Intent probabilities from votes, and importance from ratings."""
