"""What a study asks of workers: minutes, places, cost."""
