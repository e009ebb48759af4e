"""Commands about a study that runs."""
