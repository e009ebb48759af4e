"""What waitress and gunicorn say themselves: without the address of a request, which holds tokens and ids, or of a worker."""

import logging
import re
from typing import Final

ADDRESS: Final = re.compile(r"(?<=serving )\S.*", re.DOTALL)
"""What stands behind waitress's "while serving"."""


class WithoutAddresses(logging.Filter):
    """Let every record pass, but say no addresses."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Cut out of the record's words what a stranger wrote into them."""
        record.msg, record.args = ADDRESS.sub("an address", record.getMessage()), ()
        return True


def quieted(name: str) -> logging.Logger:
    """Return the logger of that name, which says warnings and failures only, and no addresses."""
    logger = logging.getLogger(name)
    logger.setLevel(logging.WARNING)
    logger.filters = [WithoutAddresses()]
    return logger
