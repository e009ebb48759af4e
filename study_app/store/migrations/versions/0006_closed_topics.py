"""A query, event or profile may be closed while a study runs."""

import sqlalchemy as sa
from alembic import op

revision = '0006'
down_revision = '0005'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('topic', sa.Column('closed_at', sa.BigInteger(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table('topic', schema=None) as batch_op:
        batch_op.drop_column('closed_at')
