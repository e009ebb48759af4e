"""How often each pair was drawn either way stands with the pair: to count the showings took long with every worker who began."""

import sqlalchemy as sa
from alembic import op

revision = '0007'
down_revision = '0006'
branch_labels = None
depends_on = None


def upgrade() -> None:
    for side in 'ab':
        op.add_column('pair', sa.Column(f'shown_{side}_left', sa.Integer(), server_default='0', nullable=False))
        op.execute(
            f'UPDATE pair SET shown_{side}_left = (SELECT count(*) FROM showing WHERE showing.pair_id = pair.id '
            f'AND showing.left_system_id = pair.system_{side}_id AND showing.repeats_id IS NULL)'
        )
    with op.batch_alter_table('showing', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_showing_counted'))
        batch_op.create_index(batch_op.f('ix_showing_pair_id'), ['pair_id'], unique=False)


def downgrade() -> None:
    with op.batch_alter_table('showing', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_showing_pair_id'))
        batch_op.create_index(
            batch_op.f('ix_showing_counted'), ['pair_id', 'left_system_id', 'repeats_id'], unique=False
        )
    with op.batch_alter_table('pair', schema=None) as batch_op:
        batch_op.drop_column('shown_b_left')
        batch_op.drop_column('shown_a_left')
