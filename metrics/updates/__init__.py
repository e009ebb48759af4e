"""Updates about events: the Temporal Summarization measures."""
