"""All tables of the database: importing this module is what makes them known."""

from sqlalchemy import MetaData

from study_app.store import stream_models, task_models
from study_app.store.models import Base

_MODULES = (stream_models, task_models)

METADATA: MetaData = Base.metadata
