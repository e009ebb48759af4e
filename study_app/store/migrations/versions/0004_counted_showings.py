"""An index that has all that is counted when a worker begins."""

from alembic import op

revision = '0004'
down_revision = '0003'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('showing', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_showing_pair_id'))
        batch_op.create_index(
            batch_op.f('ix_showing_counted'),
            ['pair_id', 'left_system_id', 'repeats_id'],
            unique=False,
        )


def downgrade() -> None:
    with op.batch_alter_table('showing', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_showing_counted'))
        batch_op.create_index(batch_op.f('ix_showing_pair_id'), ['pair_id'], unique=False)
