"""Commands about automatic judges: prompts, runs, and answers as tables."""
