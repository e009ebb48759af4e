"""Create every table in one step; versions 0001 to 0008 were never published."""

import sqlalchemy as sa
from alembic import op

revision = '0009'
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('setting',
        sa.Column('name', sa.String(), nullable=False),
        sa.Column('value', sa.String(), nullable=False),
        sa.PrimaryKeyConstraint('name', name=op.f('pk_setting'))
    )

    op.create_table('study',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('name', sa.String(), nullable=False),
        sa.Column('sha256', sa.String(), nullable=False),
        sa.Column('source', sa.Text(), nullable=False),
        sa.Column('folder', sa.String(), nullable=False),
        sa.Column('config', sa.JSON(), nullable=False),
        sa.Column('consent_sha256', sa.String(), nullable=False),
        sa.Column('loaded_at', sa.BigInteger(), nullable=False),
        sa.Column('version', sa.Integer(), nullable=False),
        sa.Column('paused_at', sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_study')),
        sa.UniqueConstraint('name', name=op.f('uq_study_name'))
    )

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

    op.create_table('researcher_key',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('study_id', sa.Integer(), nullable=False),
        sa.Column('role', sa.String(), nullable=False),
        sa.Column('name', sa.String(), nullable=False),
        sa.Column('sha256', sa.String(), nullable=False),
        sa.Column('made_at', sa.BigInteger(), nullable=False),
        sa.Column('revoked_at', sa.BigInteger(), nullable=True),
        sa.CheckConstraint("role IN ('watch', 'manage')", name=op.f('ck_researcher_key_role')),
        sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_researcher_key_study_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_researcher_key')),
        sa.UniqueConstraint('sha256', name=op.f('uq_researcher_key_sha256'))
    )
    op.create_index(op.f('ix_researcher_key_study_id'), 'researcher_key', ['study_id'], unique=False)

    op.create_table('results_look',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('study_id', sa.Integer(), nullable=False),
        sa.Column('at', sa.BigInteger(), nullable=False),
        sa.Column('judgments', sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_results_look_study_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_results_look'))
    )
    op.create_index(op.f('ix_results_look_study_id'), 'results_look', ['study_id'], unique=False)

    op.create_table('task',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('study_id', sa.Integer(), nullable=False),
        sa.Column('position', sa.Integer(), nullable=False),
        sa.Column('name', sa.String(), nullable=False),
        sa.Column('kind', sa.String(), nullable=False),
        sa.Column('language', sa.String(), nullable=False),
        sa.Column('config', sa.JSON(), nullable=False),
        sa.Column('files', sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_task_study_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_task')),
        sa.UniqueConstraint('study_id', 'name', name=op.f('uq_task_study_id_name')),
        sa.UniqueConstraint('study_id', 'position', name=op.f('uq_task_study_id_position'))
    )

    op.create_table('worker',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('study_id', sa.Integer(), nullable=False),
        sa.Column('number', sa.Integer(), nullable=False),
        sa.Column('pseudonym', sa.String(), nullable=False),
        sa.Column('withdrawal_code', sa.String(), nullable=False),
        sa.Column('arrived_at', sa.BigInteger(), nullable=False),
        sa.Column('last_seen_at', sa.BigInteger(), nullable=False),
        sa.Column('consented_at', sa.BigInteger(), nullable=True),
        sa.Column('consent_sha256', sa.String(), nullable=True),
        sa.Column('completed_at', sa.BigInteger(), nullable=True),
        sa.Column('completion_code', sa.String(), nullable=True),
        sa.Column('withdrawn_at', sa.BigInteger(), nullable=True),
        sa.Column('stopped_at', sa.BigInteger(), nullable=True),
        sa.Column('stopped_as', sa.String(), nullable=True),
        sa.Column('times_moved_ms', sa.Integer(), server_default='0', nullable=False),
        sa.CheckConstraint("stopped_as IN ('screened_out', 'failed_checks', 'partial')", name=op.f('ck_worker_stopped_as')),
        sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_worker_study_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_worker')),
        sa.UniqueConstraint('study_id', 'number', name=op.f('uq_worker_study_id_number')),
        sa.UniqueConstraint('study_id', 'pseudonym', name=op.f('uq_worker_study_id_pseudonym')),
        sa.UniqueConstraint('withdrawal_code', name=op.f('uq_worker_withdrawal_code'))
    )

    op.create_table('assignment',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('worker_id', sa.Integer(), nullable=False),
        sa.Column('task_id', sa.Integer(), nullable=False),
        sa.Column('started_at', sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(['task_id'], ['task.id'], name=op.f('fk_assignment_task_id')),
        sa.ForeignKeyConstraint(['worker_id'], ['worker.id'], name=op.f('fk_assignment_worker_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_assignment')),
        sa.UniqueConstraint('worker_id', 'task_id', name=op.f('uq_assignment_worker_id_task_id'))
    )

    op.create_table('audit',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('study_id', sa.Integer(), nullable=False),
        sa.Column('key_id', sa.Integer(), nullable=True),
        sa.Column('who', sa.String(), nullable=False),
        sa.Column('at', sa.BigInteger(), nullable=False),
        sa.Column('what', sa.String(), nullable=False),
        sa.Column('detail', sa.Text(), nullable=False),
        sa.Column('number', sa.Integer(), nullable=False),
        sa.Column('previous', sa.String(), nullable=False),
        sa.Column('sha256', sa.String(), nullable=False),
        sa.ForeignKeyConstraint(['key_id'], ['researcher_key.id'], name=op.f('fk_audit_key_id')),
        sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_audit_study_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_audit')),
        sa.UniqueConstraint('study_id', 'number', name=op.f('uq_audit_study_id_number'))
    )
    op.create_index(op.f('ix_audit_study_id'), 'audit', ['study_id'], unique=False)

    op.create_table('console_session',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('sha256', sa.String(), nullable=False),
        sa.Column('study_id', sa.Integer(), nullable=False),
        sa.Column('key_id', sa.Integer(), nullable=True),
        sa.Column('began_at', sa.BigInteger(), nullable=False),
        sa.Column('ended_at', sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(['key_id'], ['researcher_key.id'], name=op.f('fk_console_session_key_id')),
        sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_console_session_study_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_console_session')),
        sa.UniqueConstraint('sha256', name=op.f('uq_console_session_sha256'))
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

    op.create_table('job',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('study_id', sa.Integer(), nullable=False),
        sa.Column('key_id', sa.Integer(), nullable=True),
        sa.Column('kind', sa.String(), nullable=False),
        sa.Column('state', sa.String(), nullable=False),
        sa.Column('step', sa.String(), nullable=False),
        sa.Column('message', sa.Text(), nullable=True),
        sa.Column('folder', sa.String(), nullable=True),
        sa.Column('made_at', sa.BigInteger(), nullable=False),
        sa.Column('ended_at', sa.BigInteger(), nullable=True),
        sa.CheckConstraint("state IN ('waiting', 'running', 'done', 'failed', 'interrupted')", name=op.f('ck_job_state')),
        sa.ForeignKeyConstraint(['key_id'], ['researcher_key.id'], name=op.f('fk_job_key_id')),
        sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_job_study_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_job'))
    )
    op.create_index(op.f('ix_job_study_id'), 'job', ['study_id'], unique=False)

    op.create_table('platform_identity',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('study_id', sa.Integer(), nullable=False),
        sa.Column('worker_id', sa.Integer(), nullable=False),
        sa.Column('platform', sa.String(), nullable=False),
        sa.Column('platform_worker', sa.String(), nullable=False),
        sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_platform_identity_study_id')),
        sa.ForeignKeyConstraint(['worker_id'], ['worker.id'], name=op.f('fk_platform_identity_worker_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_platform_identity')),
        sa.UniqueConstraint('study_id', 'platform', 'platform_worker', name=op.f('uq_platform_identity_study_id_platform_platform_worker')),
        sa.UniqueConstraint('worker_id', name=op.f('uq_platform_identity_worker_id'))
    )

    op.create_table('system',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('task_id', sa.Integer(), nullable=False),
        sa.Column('position', sa.Integer(), nullable=False),
        sa.Column('name', sa.String(), nullable=False),
        sa.Column('path', sa.String(), nullable=False),
        sa.Column('sha256', sa.String(), nullable=False),
        sa.ForeignKeyConstraint(['task_id'], ['task.id'], name=op.f('fk_system_task_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_system')),
        sa.UniqueConstraint('task_id', 'name', name=op.f('uq_system_task_id_name'))
    )

    op.create_table('task_table',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('task_id', sa.Integer(), nullable=False),
        sa.Column('name', sa.String(), nullable=False),
        sa.Column('content', sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(['task_id'], ['task.id'], name=op.f('fk_task_table_task_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_task_table')),
        sa.UniqueConstraint('task_id', 'name', name=op.f('uq_task_table_task_id_name'))
    )

    op.create_table('topic',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('task_id', sa.Integer(), nullable=False),
        sa.Column('position', sa.Integer(), nullable=False),
        sa.Column('name', sa.String(), nullable=False),
        sa.Column('text', sa.Text(), nullable=False),
        sa.Column('detail', sa.JSON(), nullable=True),
        sa.Column('closed_at', sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(['task_id'], ['task.id'], name=op.f('fk_topic_task_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_topic')),
        sa.UniqueConstraint('task_id', 'name', name=op.f('uq_topic_task_id_name')),
        sa.UniqueConstraint('task_id', 'position', name=op.f('uq_topic_task_id_position'))
    )

    op.create_table('intent',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('topic_id', sa.Integer(), nullable=False),
        sa.Column('position', sa.Integer(), nullable=False),
        sa.Column('name', sa.String(), nullable=False),
        sa.Column('text', sa.Text(), nullable=False),
        sa.Column('probability', sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(['topic_id'], ['topic.id'], name=op.f('fk_intent_topic_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_intent')),
        sa.UniqueConstraint('topic_id', 'name', name=op.f('uq_intent_topic_id_name'))
    )

    op.create_table('pair',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('topic_id', sa.Integer(), nullable=False),
        sa.Column('system_a_id', sa.Integer(), nullable=False),
        sa.Column('system_b_id', sa.Integer(), nullable=False),
        sa.Column('name', sa.String(), nullable=False),
        sa.Column('shown_a_left', sa.Integer(), server_default='0', nullable=False),
        sa.Column('shown_b_left', sa.Integer(), server_default='0', nullable=False),
        sa.CheckConstraint('system_a_id <> system_b_id', name=op.f('ck_pair_two_systems')),
        sa.ForeignKeyConstraint(['system_a_id'], ['system.id'], name=op.f('fk_pair_system_a_id')),
        sa.ForeignKeyConstraint(['system_b_id'], ['system.id'], name=op.f('fk_pair_system_b_id')),
        sa.ForeignKeyConstraint(['topic_id'], ['topic.id'], name=op.f('fk_pair_topic_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_pair')),
        sa.UniqueConstraint('topic_id', 'name', name=op.f('uq_pair_topic_id_name')),
        sa.UniqueConstraint('topic_id', 'system_a_id', 'system_b_id', name=op.f('uq_pair_topic_id_system_a_id_system_b_id'))
    )

    op.create_table('platform_entry',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('identity_id', sa.Integer(), nullable=False),
        sa.Column('arrived_at', sa.BigInteger(), nullable=False),
        sa.Column('parameters', sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(['identity_id'], ['platform_identity.id'], name=op.f('fk_platform_entry_identity_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_platform_entry'))
    )
    op.create_index(op.f('ix_platform_entry_identity_id'), 'platform_entry', ['identity_id'], unique=False)

    op.create_table('platform_record',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('identity_id', sa.Integer(), nullable=False),
        sa.Column('submission', sa.String(), nullable=False),
        sa.Column('status', sa.String(), nullable=False),
        sa.Column('confirmed', sa.Boolean(), nullable=False),
        sa.Column('paid', sa.Boolean(), nullable=False),
        sa.Column('read_at', sa.BigInteger(), nullable=False),
        sa.Column('finding', sa.String(), nullable=True),
        sa.Column('marked_paid_at', sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(['identity_id'], ['platform_identity.id'], name=op.f('fk_platform_record_identity_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_platform_record')),
        sa.UniqueConstraint('identity_id', 'submission', name=op.f('uq_platform_record_identity_id_submission'))
    )
    op.create_index(op.f('ix_platform_record_identity_id'), 'platform_record', ['identity_id'], unique=False)

    op.create_table('slot',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('assignment_id', sa.Integer(), nullable=False),
        sa.Column('topic_id', sa.Integer(), nullable=False),
        sa.Column('position', sa.Integer(), nullable=False),
        sa.Column('leased_at', sa.BigInteger(), nullable=False),
        sa.Column('expires_at', sa.BigInteger(), nullable=False),
        sa.Column('late', sa.Boolean(), nullable=False),
        sa.Column('search_shown_at', sa.BigInteger(), nullable=True),
        sa.Column('search_left_at', sa.BigInteger(), nullable=True),
        sa.Column('done_at', sa.BigInteger(), nullable=True),
        sa.Column('unit', sa.Integer(), server_default='0', nullable=False),
        sa.ForeignKeyConstraint(['assignment_id'], ['assignment.id'], name=op.f('fk_slot_assignment_id')),
        sa.ForeignKeyConstraint(['topic_id'], ['topic.id'], name=op.f('fk_slot_topic_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_slot')),
        sa.UniqueConstraint('assignment_id', 'position', name=op.f('uq_slot_assignment_id_position')),
        sa.UniqueConstraint('assignment_id', 'topic_id', 'unit', name=op.f('uq_slot_assignment_id_topic_id_unit'))
    )
    op.create_index(op.f('ix_slot_topic_id'), 'slot', ['topic_id'], unique=False)

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

    op.create_table('summary',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('topic_id', sa.Integer(), nullable=False),
        sa.Column('system_id', sa.Integer(), nullable=False),
        sa.Column('content', sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(['system_id'], ['system.id'], name=op.f('fk_summary_system_id')),
        sa.ForeignKeyConstraint(['topic_id'], ['topic.id'], name=op.f('fk_summary_topic_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_summary')),
        sa.UniqueConstraint('topic_id', 'system_id', name=op.f('uq_summary_topic_id_system_id'))
    )

    op.create_table('ballot',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('slot_id', sa.Integer(), nullable=False),
        sa.Column('revision', sa.Integer(), nullable=False),
        sa.Column('intents', sa.JSON(), nullable=False),
        sa.Column('page_key', sa.String(), nullable=False),
        sa.Column('decided_at', sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(['slot_id'], ['slot.id'], name=op.f('fk_ballot_slot_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_ballot')),
        sa.UniqueConstraint('slot_id', 'revision', name=op.f('uq_ballot_slot_id_revision'))
    )

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
    op.create_index(op.f('ix_code_shown_worker_id'), 'code_shown', ['worker_id'], unique=False)

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
    op.create_index(op.f('ix_follow_system_id'), 'follow', ['system_id'], unique=False)

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

    op.create_table('showing',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('slot_id', sa.Integer(), nullable=False),
        sa.Column('pair_id', sa.Integer(), nullable=False),
        sa.Column('position', sa.Integer(), nullable=False),
        sa.Column('name', sa.String(), nullable=False),
        sa.Column('left_system_id', sa.Integer(), nullable=False),
        sa.Column('right_system_id', sa.Integer(), nullable=False),
        sa.Column('repeats_id', sa.Integer(), nullable=True),
        sa.Column('reveals_silence', sa.Boolean(), nullable=True),
        sa.CheckConstraint('left_system_id <> right_system_id', name=op.f('ck_showing_two_sides')),
        sa.ForeignKeyConstraint(['left_system_id'], ['system.id'], name=op.f('fk_showing_left_system_id')),
        sa.ForeignKeyConstraint(['pair_id'], ['pair.id'], name=op.f('fk_showing_pair_id')),
        sa.ForeignKeyConstraint(['repeats_id'], ['showing.id'], name=op.f('fk_showing_repeats_id')),
        sa.ForeignKeyConstraint(['right_system_id'], ['system.id'], name=op.f('fk_showing_right_system_id')),
        sa.ForeignKeyConstraint(['slot_id'], ['slot.id'], name=op.f('fk_showing_slot_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_showing')),
        sa.UniqueConstraint('name', name=op.f('uq_showing_name')),
        sa.UniqueConstraint('slot_id', 'position', name=op.f('uq_showing_slot_id_position'))
    )
    op.create_index(op.f('ix_showing_pair_id'), 'showing', ['pair_id'], unique=False)

    op.create_table('judgment',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('showing_id', sa.Integer(), nullable=False),
        sa.Column('revision', sa.Integer(), nullable=False),
        sa.Column('choice', sa.String(), nullable=False),
        sa.Column('page_key', sa.String(), nullable=False),
        sa.Column('shown_at', sa.BigInteger(), nullable=False),
        sa.Column('decided_at', sa.BigInteger(), nullable=False),
        sa.Column('decision_ms', sa.Integer(), nullable=False),
        sa.Column('timing', sa.String(), nullable=False),
        sa.Column('layout', sa.String(), nullable=True),
        sa.Column('late', sa.Boolean(), nullable=False),
        sa.CheckConstraint("choice IN ('left', 'right', 'equally_good', 'equally_bad')", name=op.f('ck_judgment_choice')),
        sa.ForeignKeyConstraint(['showing_id'], ['showing.id'], name=op.f('fk_judgment_showing_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_judgment')),
        sa.UniqueConstraint('showing_id', 'revision', name=op.f('uq_judgment_showing_id_revision'))
    )

    op.create_table('page_load',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('key', sa.String(), nullable=False),
        sa.Column('worker_id', sa.Integer(), nullable=False),
        sa.Column('step', sa.String(), nullable=False),
        sa.Column('showing_id', sa.Integer(), nullable=True),
        sa.Column('served_at', sa.BigInteger(), nullable=False),
        sa.Column('first_received_at', sa.BigInteger(), nullable=False),
        sa.Column('upto', sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(['showing_id'], ['showing.id'], name=op.f('fk_page_load_showing_id')),
        sa.ForeignKeyConstraint(['worker_id'], ['worker.id'], name=op.f('fk_page_load_worker_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_page_load')),
        sa.UniqueConstraint('key', name=op.f('uq_page_load_key'))
    )
    op.create_index(op.f('ix_page_load_showing_id'), 'page_load', ['showing_id'], unique=False)
    op.create_index(op.f('ix_page_load_worker_id'), 'page_load', ['worker_id'], unique=False)

    op.create_table('prompt',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('follow_id', sa.Integer(), nullable=False),
        sa.Column('sent_at', sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(['follow_id'], ['follow.id'], name=op.f('fk_prompt_follow_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_prompt'))
    )
    op.create_index(op.f('ix_prompt_follow_id'), 'prompt', ['follow_id'], unique=False)

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
    op.create_index(op.f('ix_stream_view_follow_id'), 'stream_view', ['follow_id'], unique=False)

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
    op.create_index(op.f('ix_useful_question_follow_id'), 'useful_question', ['follow_id'], unique=False)

    op.create_table('event',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('page_load_id', sa.Integer(), nullable=False),
        sa.Column('number', sa.Integer(), nullable=False),
        sa.Column('kind', sa.String(), nullable=False),
        sa.Column('page_ms', sa.BigInteger(), nullable=False),
        sa.Column('wall_ms', sa.BigInteger(), nullable=False),
        sa.Column('received_at', sa.BigInteger(), nullable=False),
        sa.Column('detail', sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(['page_load_id'], ['page_load.id'], name=op.f('fk_event_page_load_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_event')),
        sa.UniqueConstraint('page_load_id', 'number', name=op.f('uq_event_page_load_id_number'))
    )

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
