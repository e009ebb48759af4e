"""The consent texts that somebody agreed to, each in a file named by its hash."""

import re
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.export.people import takes_part
from study_app.store.models import Worker
from study_app.store.task_models import ConsentText

FOLDER = "consent"
NAME = re.compile(rf"{FOLDER}/[0-9a-f]{{64}}\.txt")


def write_consents(session: Session, study_id: int, folder: Path) -> None:
    """Write ``consent/SHA256.txt`` for each text that a worker who takes part agreed to, byte for byte; none, no folder."""
    agreed = select(Worker.consent_sha256).where(takes_part(study_id)).distinct()
    texts = select(ConsentText.sha256, ConsentText.text).where(
        ConsentText.study_id == study_id, ConsentText.sha256.in_(agreed)
    )
    for sha256, text in session.execute(texts.order_by(ConsentText.sha256)):
        (folder / FOLDER).mkdir(exist_ok=True)
        (folder / FOLDER / f"{sha256}.txt").write_bytes(text.encode())
