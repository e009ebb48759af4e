"""The researcher's console: keys with roles, who is signed in, the audit, long work; what was marked as paid."""

import sqlalchemy as sa
from alembic import op

revision = '0005'
down_revision = '0004'
branch_labels = None
depends_on = None


def upgrade() -> None:
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
    op.create_table('audit',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('study_id', sa.Integer(), nullable=False),
    sa.Column('key_id', sa.Integer(), nullable=True),
    sa.Column('who', sa.String(), nullable=False),
    sa.Column('at', sa.BigInteger(), nullable=False),
    sa.Column('what', sa.String(), nullable=False),
    sa.Column('detail', sa.Text(), nullable=False),
    sa.ForeignKeyConstraint(['key_id'], ['researcher_key.id'], name=op.f('fk_audit_key_id')),
    sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_audit_study_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_audit'))
    )
    op.create_index(op.f('ix_audit_study_id'), 'audit', ['study_id'], unique=False)

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
    sa.CheckConstraint("state IN ('waiting', 'running', 'done', 'failed')", name=op.f('ck_job_state')),
    sa.ForeignKeyConstraint(['key_id'], ['researcher_key.id'], name=op.f('fk_job_key_id')),
    sa.ForeignKeyConstraint(['study_id'], ['study.id'], name=op.f('fk_job_study_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_job'))
    )
    op.create_index(op.f('ix_job_study_id'), 'job', ['study_id'], unique=False)

    op.add_column('platform_record', sa.Column('marked_paid_at', sa.BigInteger(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table('platform_record', schema=None) as batch_op:
        batch_op.drop_column('marked_paid_at')

    op.drop_table('job')
    op.drop_table('audit')
    op.drop_table('console_session')
    op.drop_table('researcher_key')
