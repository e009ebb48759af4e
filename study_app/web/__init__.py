"""The Flask app around the services."""
