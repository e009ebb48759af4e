"""Studies on Prolific, every call of its API, orders to pay and to tell, and the events that it sends."""

import sqlalchemy as sa
from alembic import op

revision = '0012'
down_revision = '0011'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('prolific_study',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('study_id', sa.Integer(), nullable=False),
        sa.Column('label', sa.String(), nullable=False),
        sa.Column('remote', sa.String(), nullable=True),
        sa.Column('made_at', sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_prolific_study_study_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_prolific_study')),
        sa.UniqueConstraint('remote', name=op.f('uq_prolific_study_remote'))
    )
    op.create_index(op.f('ix_prolific_study_study_id'), 'prolific_study', ['study_id'])
    op.create_table('platform_call',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('study_id', sa.Integer(), nullable=False),
        sa.Column('method', sa.String(), nullable=False),
        sa.Column('path', sa.String(), nullable=False),
        sa.Column('began_at', sa.BigInteger(), nullable=False),
        sa.Column('ended_at', sa.BigInteger(), nullable=True),
        sa.Column('status', sa.Integer(), nullable=True),
        sa.Column('outcome', sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_platform_call_study_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_platform_call'))
    )
    op.create_index(op.f('ix_platform_call_study_id'), 'platform_call', ['study_id'])
    op.create_table('platform_order',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('study_id', sa.Integer(), nullable=False),
        sa.Column('worker_id', sa.Integer(), nullable=False),
        sa.Column('prolific_study_id', sa.Integer(), nullable=False),
        sa.Column('kind', sa.String(), nullable=False),
        sa.Column('purpose', sa.String(), nullable=False),
        sa.Column('submission', sa.String(), nullable=False),
        sa.Column('cents', sa.Integer(), nullable=True),
        sa.Column('currency', sa.String(), nullable=True),
        sa.Column('state', sa.String(), nullable=False),
        sa.Column('batch', sa.String(), nullable=True),
        sa.Column('seen_before', sa.JSON(), nullable=True),
        sa.Column('note', sa.Text(), nullable=False),
        sa.Column('intended_at', sa.BigInteger(), nullable=False),
        sa.Column('sent_at', sa.BigInteger(), nullable=True),
        sa.Column('settled_at', sa.BigInteger(), nullable=True),
        sa.CheckConstraint("kind IN ('approval', 'bonus', 'message')", name=op.f('ck_platform_order_kind')),
        sa.CheckConstraint(
            "state IN ('intended', 'unknown', 'sent', 'confirmed')", name=op.f('ck_platform_order_state')
        ),
        sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_platform_order_study_id')),
        sa.ForeignKeyConstraint(['worker_id'], ['worker.id'], name=op.f('fk_platform_order_worker_id')),
        sa.ForeignKeyConstraint(
            ['prolific_study_id'], ['prolific_study.id'], name=op.f('fk_platform_order_prolific_study_id')
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_platform_order')),
        sa.UniqueConstraint('worker_id', 'kind', 'purpose', name=op.f('uq_platform_order_worker_id_kind_purpose'))
    )
    op.create_index(op.f('ix_platform_order_study_id'), 'platform_order', ['study_id'])
    op.create_index(op.f('ix_platform_order_worker_id'), 'platform_order', ['worker_id'])
    op.create_table('platform_event',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('event', sa.String(), nullable=False),
        sa.Column('signature', sa.String(), nullable=False),
        sa.Column('identity_id', sa.Integer(), nullable=True),
        sa.Column('submission', sa.String(), nullable=True),
        sa.Column('status', sa.String(), nullable=False),
        sa.Column('happened_at', sa.BigInteger(), nullable=False),
        sa.Column('received_at', sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ['identity_id'], ['platform_identity.id'], name=op.f('fk_platform_event_identity_id')
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_platform_event')),
        sa.UniqueConstraint('event', name=op.f('uq_platform_event_event')),
        sa.UniqueConstraint('signature', name=op.f('uq_platform_event_signature'))
    )
    op.create_index(op.f('ix_platform_event_identity_id'), 'platform_event', ['identity_id'])
    with op.batch_alter_table('platform_record') as table:
        table.add_column(sa.Column('prolific_study_id', sa.Integer(), nullable=True))
        table.create_foreign_key(
            op.f('fk_platform_record_prolific_study_id'), 'prolific_study', ['prolific_study_id'], ['id']
        )
    with op.batch_alter_table('worker') as table:
        table.add_column(sa.Column('returned_at', sa.BigInteger(), nullable=True))
