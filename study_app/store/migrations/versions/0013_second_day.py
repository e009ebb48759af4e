"""Loads of changed studies, texts shown before they were mended, and what was added to a running study."""

import sqlalchemy as sa
from alembic import op

revision = '0013'
down_revision = '0012'
branch_labels = None
depends_on = None

ADDED = (
    ('study', 'file_name', sa.String()),
    ('topic', 'added_at', sa.BigInteger()),
    ('pair', 'added_at', sa.BigInteger()),
    ('worker', 'at_end_at', sa.BigInteger()),
    ('judgment', 'study_version', sa.Integer()),
    ('page_load', 'study_version', sa.Integer()),
)


def upgrade() -> None:
    for table, name, kind in ADDED:
        op.add_column(table, sa.Column(name, kind, nullable=True))
    op.create_table('study_load',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('study_id', sa.Integer(), nullable=False),
        sa.Column('version', sa.Integer(), nullable=False),
        sa.Column('sha256', sa.String(), nullable=False),
        sa.Column('at', sa.BigInteger(), nullable=False),
        sa.Column('changes', sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_study_load_study_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_study_load'))
    )
    op.create_index(op.f('ix_study_load_study_id'), 'study_load', ['study_id'])
    op.create_table('past_text',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('topic_id', sa.Integer(), nullable=False),
        sa.Column('system_id', sa.Integer(), nullable=True),
        sa.Column('upto_version', sa.Integer(), nullable=False),
        sa.Column('mended_at', sa.BigInteger(), nullable=False),
        sa.Column('sha256', sa.String(), nullable=False),
        sa.Column('new_sha256', sa.String(), nullable=False),
        sa.Column('content', sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(['topic_id'], ['topic.id'], name=op.f('fk_past_text_topic_id')),
        sa.ForeignKeyConstraint(['system_id'], ['system.id'], name=op.f('fk_past_text_system_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_past_text')),
        sa.UniqueConstraint('topic_id', 'system_id', 'upto_version', name=op.f('uq_past_text_topic_id_system_id_upto_version'))
    )


def downgrade() -> None:
    op.drop_table('past_text')
    op.drop_index(op.f('ix_study_load_study_id'), table_name='study_load')
    op.drop_table('study_load')
    for table, name, _ in reversed(ADDED):
        op.drop_column(table, name)
