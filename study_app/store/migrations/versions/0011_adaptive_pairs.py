"""A showing says with which probability its pair was drawn, and whether the answers so far had a part in it."""

import sqlalchemy as sa
from alembic import op

revision = '0011'
down_revision = '0010'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('showing') as table:
        table.add_column(sa.Column('chance', sa.Double(), nullable=True))
        table.add_column(sa.Column('drawn', sa.String(), nullable=True))
        table.create_check_constraint(op.f('ck_showing_drawn'), "drawn IN ('uniform', 'adaptive')")
