"""Every task of a study: introductions, ratings, questions; consent texts; what platforms were told."""

import sqlalchemy as sa
from alembic import op

revision = '0003'
down_revision = '0002'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('consent_text',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('study_id', sa.Integer(), nullable=False),
    sa.Column('sha256', sa.String(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('loaded_at', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_consent_text_study_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_consent_text')),
    sa.UniqueConstraint('study_id', 'sha256', name=op.f('uq_consent_text_study_id_sha256'))
    )
    op.create_table('introduction',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('worker_id', sa.Integer(), nullable=False),
    sa.Column('task_id', sa.Integer(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('answers', sa.JSON(), nullable=False),
    sa.Column('passed', sa.Boolean(), nullable=False),
    sa.Column('page_key', sa.String(), nullable=False),
    sa.Column('decided_at', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['task_id'], ['task.id'], name=op.f('fk_introduction_task_id')),
    sa.ForeignKeyConstraint(['worker_id'], ['worker.id'], name=op.f('fk_introduction_worker_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_introduction')),
    sa.UniqueConstraint('worker_id', 'task_id', 'number', name=op.f('uq_introduction_worker_id_task_id_number'))
    )
    op.create_table('platform_record',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('identity_id', sa.Integer(), nullable=False),
    sa.Column('submission', sa.String(), nullable=False),
    sa.Column('status', sa.String(), nullable=False),
    sa.Column('confirmed', sa.Boolean(), nullable=False),
    sa.Column('paid', sa.Boolean(), nullable=False),
    sa.Column('read_at', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['identity_id'], ['platform_identity.id'], name=op.f('fk_platform_record_identity_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_platform_record')),
    sa.UniqueConstraint('identity_id', 'submission', name=op.f('uq_platform_record_identity_id_submission'))
    )
    with op.batch_alter_table('platform_record', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_platform_record_identity_id'), ['identity_id'], unique=False)

    op.create_table('code_shown',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('worker_id', sa.Integer(), nullable=False),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('code', sa.String(), nullable=False),
    sa.Column('shown_at', sa.BigInteger(), nullable=False),
    sa.Column('entry_id', sa.Integer(), nullable=True),
    sa.CheckConstraint("kind IN ('complete', 'screened_out', 'failed_checks', 'partial', 'visit')", name=op.f('ck_code_shown_kind')),
    sa.ForeignKeyConstraint(['entry_id'], ['platform_entry.id'], name=op.f('fk_code_shown_entry_id')),
    sa.ForeignKeyConstraint(['worker_id'], ['worker.id'], name=op.f('fk_code_shown_worker_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_code_shown')),
    sa.UniqueConstraint('worker_id', 'kind', 'entry_id', name=op.f('uq_code_shown_worker_id_kind_entry_id'))
    )
    with op.batch_alter_table('code_shown', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_code_shown_worker_id'), ['worker_id'], unique=False)

    op.create_table('reply',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('slot_id', sa.Integer(), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.Column('answers', sa.JSON(), nullable=False),
    sa.Column('page_key', sa.String(), nullable=False),
    sa.Column('decided_at', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['slot_id'], ['slot.id'], name=op.f('fk_reply_slot_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_reply')),
    sa.UniqueConstraint('slot_id', 'revision', name=op.f('uq_reply_slot_id_revision'))
    )
    op.create_table('sheet',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('slot_id', sa.Integer(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('intent_id', sa.Integer(), nullable=False),
    sa.Column('iunits', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['intent_id'], ['intent.id'], name=op.f('fk_sheet_intent_id')),
    sa.ForeignKeyConstraint(['slot_id'], ['slot.id'], name=op.f('fk_sheet_slot_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_sheet')),
    sa.UniqueConstraint('slot_id', 'position', name=op.f('uq_sheet_slot_id_position'))
    )
    op.create_table('rating',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('sheet_id', sa.Integer(), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.Column('ratings', sa.JSON(), nullable=False),
    sa.Column('page_key', sa.String(), nullable=False),
    sa.Column('decided_at', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['sheet_id'], ['sheet.id'], name=op.f('fk_rating_sheet_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_rating')),
    sa.UniqueConstraint('sheet_id', 'revision', name=op.f('uq_rating_sheet_id_revision'))
    )
    with op.batch_alter_table('showing', schema=None) as batch_op:
        batch_op.add_column(sa.Column('reveals_silence', sa.Boolean(), nullable=True))

    with op.batch_alter_table('slot', schema=None) as batch_op:
        batch_op.add_column(sa.Column('unit', sa.Integer(), server_default='0', nullable=False))
        batch_op.drop_constraint(batch_op.f('uq_slot_assignment_id_topic_id'), type_='unique')
        batch_op.create_unique_constraint(batch_op.f('uq_slot_assignment_id_topic_id_unit'), ['assignment_id', 'topic_id', 'unit'])

    with op.batch_alter_table('study', schema=None) as batch_op:
        batch_op.add_column(sa.Column('paused_at', sa.BigInteger(), nullable=True))

    with op.batch_alter_table('topic', schema=None) as batch_op:
        batch_op.add_column(sa.Column('detail', sa.JSON(), nullable=True))

    with op.batch_alter_table('worker', schema=None) as batch_op:
        batch_op.add_column(sa.Column('stopped_at', sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column('stopped_as', sa.String(), nullable=True))
        batch_op.create_check_constraint(
            batch_op.f('ck_worker_stopped_as'), "stopped_as IN ('screened_out', 'failed_checks', 'partial')"
        )
    _keep_consent_texts()


def _keep_consent_texts() -> None:
    """Keep the text that each study has now; older ones were not kept."""
    study = sa.table(
        'study', sa.column('id'), sa.column('config', sa.JSON), sa.column('consent_sha256'), sa.column('loaded_at')
    )
    kept = sa.table(
        'consent_text', sa.column('study_id'), sa.column('sha256'), sa.column('text'), sa.column('loaded_at')
    )
    for row in op.get_bind().execute(sa.select(study)).all():
        op.execute(
            kept.insert().values(
                study_id=row.id, sha256=row.consent_sha256, text=row.config['consent'], loaded_at=row.loaded_at
            )
        )


def downgrade() -> None:
    with op.batch_alter_table('worker', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('ck_worker_stopped_as'), type_='check')
        batch_op.drop_column('stopped_as')
        batch_op.drop_column('stopped_at')

    with op.batch_alter_table('topic', schema=None) as batch_op:
        batch_op.drop_column('detail')

    with op.batch_alter_table('study', schema=None) as batch_op:
        batch_op.drop_column('paused_at')

    with op.batch_alter_table('slot', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('uq_slot_assignment_id_topic_id_unit'), type_='unique')
        batch_op.create_unique_constraint(batch_op.f('uq_slot_assignment_id_topic_id'), ['assignment_id', 'topic_id'])
        batch_op.drop_column('unit')

    with op.batch_alter_table('showing', schema=None) as batch_op:
        batch_op.drop_column('reveals_silence')

    op.drop_table('rating')
    op.drop_table('sheet')
    op.drop_table('reply')
    with op.batch_alter_table('code_shown', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_code_shown_worker_id'))

    op.drop_table('code_shown')
    with op.batch_alter_table('platform_record', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_platform_record_identity_id'))

    op.drop_table('platform_record')
    op.drop_table('introduction')
    op.drop_table('consent_text')
