"""User models: parameters of people, draws of them, and scores with intervals.

In: user-model.json (`model`; `units`: as a paper prints it) and what a family scores. Out: the model in the words of the measures (`measures`), draws
of it (`draws`), and what a family takes from it (`summaries`, `push`, `msu`, `ranked`) over one loop (`measures`).
May use `metrics` alone.
"""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "UserModel",
    "draw_model",
    "push_model",
    "ranked_model",
    "read_user_model",
    "stream_model",
    "summary_model",
    "write_user_model",
]

if TYPE_CHECKING:
    from calibration.user_model.draws import draw_model
    from calibration.user_model.model import UserModel, read_user_model, write_user_model
    from calibration.user_model.msu import stream_model
    from calibration.user_model.push import push_model
    from calibration.user_model.ranked import ranked_model
    from calibration.user_model.summaries import summary_model
else:
    __getattr__, __dir__ = lazily(
        __name__, __all__, ".model", ".draws", ".summaries", ".push", ".msu", ".ranked"
    )
