"""Streams that people follow."""

import sqlalchemy as sa
from alembic import op

revision = '0002'
down_revision = '0001'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('stream',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('topic_id', sa.Integer(), nullable=False),
    sa.Column('system_id', sa.Integer(), nullable=False),
    sa.Column('content', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['system_id'], ['system.id'], name=op.f('fk_stream_system_id')),
    sa.ForeignKeyConstraint(['topic_id'], ['topic.id'], name=op.f('fk_stream_topic_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_stream')),
    sa.UniqueConstraint('topic_id', 'system_id', name=op.f('uq_stream_topic_id_system_id'))
    )
    op.create_table('follow',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('slot_id', sa.Integer(), nullable=False),
    sa.Column('system_id', sa.Integer(), nullable=False),
    sa.Column('started_at', sa.BigInteger(), nullable=False),
    sa.Column('ends_at', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['slot_id'], ['slot.id'], name=op.f('fk_follow_slot_id')),
    sa.ForeignKeyConstraint(['system_id'], ['system.id'], name=op.f('fk_follow_system_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_follow')),
    sa.UniqueConstraint('slot_id', name=op.f('uq_follow_slot_id'))
    )
    with op.batch_alter_table('follow', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_follow_system_id'), ['system_id'], unique=False)

    op.create_table('prompt',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('follow_id', sa.Integer(), nullable=False),
    sa.Column('sent_at', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['follow_id'], ['follow.id'], name=op.f('fk_prompt_follow_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_prompt'))
    )
    with op.batch_alter_table('prompt', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_prompt_follow_id'), ['follow_id'], unique=False)

    op.create_table('stream_view',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('follow_id', sa.Integer(), nullable=False),
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('visit', sa.Integer(), nullable=False),
    sa.Column('served_at', sa.BigInteger(), nullable=False),
    sa.Column('entry', sa.String(), nullable=False),
    sa.Column('after', sa.Integer(), nullable=False),
    sa.Column('upto', sa.Integer(), nullable=False),
    sa.Column('first', sa.Integer(), nullable=False),
    sa.Column('last', sa.Integer(), nullable=False),
    sa.Column('read', sa.JSON(), nullable=False),
    sa.Column('left_at', sa.BigInteger(), nullable=True),
    sa.CheckConstraint("entry IN ('own', 'reminder', 'invitation')", name=op.f('ck_stream_view_entry')),
    sa.CheckConstraint('after <= upto', name=op.f('ck_stream_view_places')),
    sa.ForeignKeyConstraint(['follow_id'], ['follow.id'], name=op.f('fk_stream_view_follow_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_stream_view')),
    sa.UniqueConstraint('key', name=op.f('uq_stream_view_key'))
    )
    with op.batch_alter_table('stream_view', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_stream_view_follow_id'), ['follow_id'], unique=False)

    op.create_table('useful_question',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('follow_id', sa.Integer(), nullable=False),
    sa.Column('visit', sa.Integer(), nullable=False),
    sa.Column('place', sa.Integer(), nullable=False),
    sa.Column('nugget', sa.String(), nullable=False),
    sa.Column('visits_late', sa.Integer(), nullable=False),
    sa.Column('asked_at', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['follow_id'], ['follow.id'], name=op.f('fk_useful_question_follow_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_useful_question')),
    sa.UniqueConstraint('follow_id', 'nugget', name=op.f('uq_useful_question_follow_id_nugget'))
    )
    with op.batch_alter_table('useful_question', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_useful_question_follow_id'), ['follow_id'], unique=False)

    op.create_table('useful_answer',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('question_id', sa.Integer(), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.Column('useful', sa.Boolean(), nullable=False),
    sa.Column('page_key', sa.String(), nullable=False),
    sa.Column('answered_at', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['question_id'], ['useful_question.id'], name=op.f('fk_useful_answer_question_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_useful_answer')),
    sa.UniqueConstraint('question_id', 'revision', name=op.f('uq_useful_answer_question_id_revision'))
    )


def downgrade() -> None:
    op.drop_table('useful_answer')
    with op.batch_alter_table('useful_question', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_useful_question_follow_id'))

    op.drop_table('useful_question')
    with op.batch_alter_table('stream_view', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_stream_view_follow_id'))

    op.drop_table('stream_view')
    with op.batch_alter_table('prompt', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_prompt_follow_id'))

    op.drop_table('prompt')
    with op.batch_alter_table('follow', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_follow_system_id'))

    op.drop_table('follow')
    op.drop_table('stream')
