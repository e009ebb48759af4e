"""Several folders of tables -> one: waves of a study, or what two servers collected.

`folders` reads them, `records` joins what study.json says, `people` finds who is the same person, `rows` joins the tables, and `join` does it
all. What cannot be one is refused by name before anything is written; what is not known is said, and never guessed.
"""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = ["join_tables"]

if TYPE_CHECKING:
    from calibration.join.join import join_tables
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".join")
