"""What the console asks of a running study, and what it changes: keys, people, replays, material, jobs, payments, limits."""
