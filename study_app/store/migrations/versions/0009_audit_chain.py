"""The audit is a chain: each line holds the hash of the last. And by how much exports move each worker's times."""

import hashlib
import json
import secrets

import sqlalchemy as sa
from alembic import op

revision = '0009'
down_revision = '0008'
branch_labels = None
depends_on = None

HOUR_MS = 3_600_000


def upgrade() -> None:
    op.add_column('worker', sa.Column('times_moved_ms', sa.Integer(), server_default='0', nullable=False))
    _draw_amounts()
    with op.batch_alter_table('audit', schema=None) as batch_op:
        batch_op.add_column(sa.Column('number', sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column('previous', sa.String(), nullable=True))
        batch_op.add_column(sa.Column('sha256', sa.String(), nullable=True))
    _chain_lines()
    with op.batch_alter_table('audit', schema=None) as batch_op:
        batch_op.alter_column('number', existing_type=sa.Integer(), nullable=False)
        batch_op.alter_column('previous', existing_type=sa.String(), nullable=False)
        batch_op.alter_column('sha256', existing_type=sa.String(), nullable=False)
        batch_op.create_unique_constraint(batch_op.f('uq_audit_study_id_number'), ['study_id', 'number'])


def _draw_amounts() -> None:
    worker = sa.table('worker', sa.column('id'), sa.column('times_moved_ms'))
    connection = op.get_bind()
    rows = [{'row': row, 'amount': secrets.randbelow(HOUR_MS)} for row in connection.scalars(sa.select(worker.c.id))]
    if rows:
        change = sa.update(worker).where(worker.c.id == sa.bindparam('row'))
        connection.execute(change.values(times_moved_ms=sa.bindparam('amount')), rows)


def _chain_lines() -> None:
    names = ('id', 'study_id', 'key_id', 'who', 'at', 'what', 'detail', 'number', 'previous', 'sha256')
    audit = sa.table('audit', *map(sa.column, names))
    connection = op.get_bind()
    last = {}
    for line in connection.execute(sa.select(audit).order_by(audit.c.id)).all():
        number, previous = last.get(line.study_id, (0, ''))
        said = [line.study_id, number + 1, previous, line.key_id, line.who, line.at, line.what, line.detail]
        sha256 = hashlib.sha256(json.dumps(said, separators=(',', ':')).encode()).hexdigest()
        last[line.study_id] = number + 1, sha256
        chained = {'number': number + 1, 'previous': previous, 'sha256': sha256}
        connection.execute(sa.update(audit).where(audit.c.id == line.id).values(chained))


def downgrade() -> None:
    with op.batch_alter_table('audit', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('uq_audit_study_id_number'), type_='unique')
        batch_op.drop_column('sha256')
        batch_op.drop_column('previous')
        batch_op.drop_column('number')
    with op.batch_alter_table('worker', schema=None) as batch_op:
        batch_op.drop_column('times_moved_ms')
