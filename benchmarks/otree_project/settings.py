"""The least that oTree needs to run one experiment."""

from os import environ

SESSION_CONFIGS = [{"name": "pairs", "app_sequence": ["pairs"], "num_demo_participants": 1}]
SESSION_CONFIG_DEFAULTS = {"real_world_currency_per_point": 1, "participation_fee": 0, "doc": ""}
PARTICIPANT_FIELDS = []
SESSION_FIELDS = []
LANGUAGE_CODE = "en"
REAL_WORLD_CURRENCY_CODE = "USD"
USE_POINTS = True
ADMIN_USERNAME = "admin"
ADMIN_PASSWORD = environ.get("OTREE_ADMIN_PASSWORD")
DEMO_PAGE_INTRO_HTML = ""
SECRET_KEY = environ.get("OTREE_SECRET_KEY", "load test")
