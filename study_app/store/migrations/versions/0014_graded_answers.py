"""An answer to a pair may be graded, with criteria and a reason; a pair may have a known answer."""

import sqlalchemy as sa
from alembic import op

revision = '0014'
down_revision = '0013'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('judgment', sa.Column('strength', sa.Integer(), nullable=True))
    op.add_column('judgment', sa.Column('criteria', sa.JSON(), nullable=True))
    op.add_column('judgment', sa.Column('reason', sa.Text(), nullable=True))
    with op.batch_alter_table('pair') as table:
        table.add_column(sa.Column('gold', sa.String(), nullable=True))
        table.create_check_constraint(op.f('ck_pair_gold'), "gold IN ('a', 'b', 'equally_good')")
