"""The weights of push notifications."""
