"""The study server's first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "setting",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_setting")),
    )
    op.create_table(
        "study",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("folder", sa.String(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("consent_sha256", sa.String(), nullable=False),
        sa.Column("loaded_at", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
        sa.UniqueConstraint("name", name=op.f("uq_study_name")),
    )
    op.create_table(
        "task",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_task_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task")),
        sa.UniqueConstraint("study_id", "name", name=op.f("uq_task_study_id_name")),
        sa.UniqueConstraint("study_id", "position", name=op.f("uq_task_study_id_position")),
    )
    op.create_table(
        "worker",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("pseudonym", sa.String(), nullable=False),
        sa.Column("withdrawal_code", sa.String(), nullable=False),
        sa.Column("arrived_at", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("consented_at", sa.BigInteger(), nullable=True),
        sa.Column("consent_sha256", sa.String(), nullable=True),
        sa.Column("completed_at", sa.BigInteger(), nullable=True),
        sa.Column("completion_code", sa.String(), nullable=True),
        sa.Column("withdrawn_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_worker_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker")),
        sa.UniqueConstraint("study_id", "number", name=op.f("uq_worker_study_id_number")),
        sa.UniqueConstraint("study_id", "pseudonym", name=op.f("uq_worker_study_id_pseudonym")),
        sa.UniqueConstraint("withdrawal_code", name=op.f("uq_worker_withdrawal_code")),
    )
    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("worker_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_assignment_task_id")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_assignment_worker_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        sa.UniqueConstraint("worker_id", "task_id", name=op.f("uq_assignment_worker_id_task_id")),
    )
    op.create_table(
        "platform_identity",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("worker_id", sa.Integer(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("platform_worker", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_platform_identity_study_id")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_platform_identity_worker_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_platform_identity")),
        sa.UniqueConstraint(
            "study_id",
            "platform",
            "platform_worker",
            name=op.f("uq_platform_identity_study_id_platform_platform_worker"),
        ),
        sa.UniqueConstraint("worker_id", name=op.f("uq_platform_identity_worker_id")),
    )
    op.create_table(
        "system",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_system_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_system")),
        sa.UniqueConstraint("task_id", "name", name=op.f("uq_system_task_id_name")),
    )
    op.create_table(
        "task_table",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_task_table_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_table")),
        sa.UniqueConstraint("task_id", "name", name=op.f("uq_task_table_task_id_name")),
    )
    op.create_table(
        "topic",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_topic_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_topic")),
        sa.UniqueConstraint("task_id", "name", name=op.f("uq_topic_task_id_name")),
        sa.UniqueConstraint("task_id", "position", name=op.f("uq_topic_task_id_position")),
    )
    op.create_table(
        "intent",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("probability", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_intent_topic_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_intent")),
        sa.UniqueConstraint("topic_id", "name", name=op.f("uq_intent_topic_id_name")),
    )
    op.create_table(
        "pair",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("system_a_id", sa.Integer(), nullable=False),
        sa.Column("system_b_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.CheckConstraint("system_a_id <> system_b_id", name=op.f("ck_pair_two_systems")),
        sa.ForeignKeyConstraint(["system_a_id"], ["system.id"], name=op.f("fk_pair_system_a_id")),
        sa.ForeignKeyConstraint(["system_b_id"], ["system.id"], name=op.f("fk_pair_system_b_id")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_pair_topic_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pair")),
        sa.UniqueConstraint("topic_id", "name", name=op.f("uq_pair_topic_id_name")),
        sa.UniqueConstraint(
            "topic_id", "system_a_id", "system_b_id", name=op.f("uq_pair_topic_id_system_a_id_system_b_id")
        ),
    )
    op.create_table(
        "platform_entry",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("identity_id", sa.Integer(), nullable=False),
        sa.Column("arrived_at", sa.BigInteger(), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["identity_id"], ["platform_identity.id"], name=op.f("fk_platform_entry_identity_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_platform_entry")),
    )
    with op.batch_alter_table("platform_entry", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_platform_entry_identity_id"), ["identity_id"], unique=False)

    op.create_table(
        "slot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("leased_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("search_shown_at", sa.BigInteger(), nullable=True),
        sa.Column("search_left_at", sa.BigInteger(), nullable=True),
        sa.Column("done_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"], name=op.f("fk_slot_assignment_id")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_slot_topic_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slot")),
        sa.UniqueConstraint("assignment_id", "position", name=op.f("uq_slot_assignment_id_position")),
        sa.UniqueConstraint("assignment_id", "topic_id", name=op.f("uq_slot_assignment_id_topic_id")),
    )
    with op.batch_alter_table("slot", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_slot_topic_id"), ["topic_id"], unique=False)

    op.create_table(
        "summary",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("system_id", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["system_id"], ["system.id"], name=op.f("fk_summary_system_id")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_summary_topic_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_summary")),
        sa.UniqueConstraint("topic_id", "system_id", name=op.f("uq_summary_topic_id_system_id")),
    )
    op.create_table(
        "ballot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slot_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("intents", sa.JSON(), nullable=False),
        sa.Column("page_key", sa.String(), nullable=False),
        sa.Column("decided_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["slot_id"], ["slot.id"], name=op.f("fk_ballot_slot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ballot")),
        sa.UniqueConstraint("slot_id", "revision", name=op.f("uq_ballot_slot_id_revision")),
    )
    op.create_table(
        "showing",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slot_id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("left_system_id", sa.Integer(), nullable=False),
        sa.Column("right_system_id", sa.Integer(), nullable=False),
        sa.Column("repeats_id", sa.Integer(), nullable=True),
        sa.CheckConstraint("left_system_id <> right_system_id", name=op.f("ck_showing_two_sides")),
        sa.ForeignKeyConstraint(["left_system_id"], ["system.id"], name=op.f("fk_showing_left_system_id")),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_showing_pair_id")),
        sa.ForeignKeyConstraint(["repeats_id"], ["showing.id"], name=op.f("fk_showing_repeats_id")),
        sa.ForeignKeyConstraint(["right_system_id"], ["system.id"], name=op.f("fk_showing_right_system_id")),
        sa.ForeignKeyConstraint(["slot_id"], ["slot.id"], name=op.f("fk_showing_slot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_showing")),
        sa.UniqueConstraint("name", name=op.f("uq_showing_name")),
        sa.UniqueConstraint("slot_id", "position", name=op.f("uq_showing_slot_id_position")),
    )
    with op.batch_alter_table("showing", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_showing_pair_id"), ["pair_id"], unique=False)

    op.create_table(
        "judgment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("showing_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("choice", sa.String(), nullable=False),
        sa.Column("page_key", sa.String(), nullable=False),
        sa.Column("shown_at", sa.BigInteger(), nullable=False),
        sa.Column("decided_at", sa.BigInteger(), nullable=False),
        sa.Column("decision_ms", sa.Integer(), nullable=False),
        sa.Column("timing", sa.String(), nullable=False),
        sa.Column("layout", sa.String(), nullable=True),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.CheckConstraint(
            "choice IN ('left', 'right', 'equally_good', 'equally_bad')", name=op.f("ck_judgment_choice")
        ),
        sa.ForeignKeyConstraint(["showing_id"], ["showing.id"], name=op.f("fk_judgment_showing_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgment")),
        sa.UniqueConstraint("showing_id", "revision", name=op.f("uq_judgment_showing_id_revision")),
    )
    op.create_table(
        "page_load",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("worker_id", sa.Integer(), nullable=False),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("showing_id", sa.Integer(), nullable=True),
        sa.Column("served_at", sa.BigInteger(), nullable=False),
        sa.Column("first_received_at", sa.BigInteger(), nullable=False),
        sa.Column("upto", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["showing_id"], ["showing.id"], name=op.f("fk_page_load_showing_id")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_page_load_worker_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page_load")),
        sa.UniqueConstraint("key", name=op.f("uq_page_load_key")),
    )
    with op.batch_alter_table("page_load", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_page_load_showing_id"), ["showing_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_page_load_worker_id"), ["worker_id"], unique=False)

    op.create_table(
        "event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("page_load_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("page_ms", sa.BigInteger(), nullable=False),
        sa.Column("wall_ms", sa.BigInteger(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["page_load_id"], ["page_load.id"], name=op.f("fk_event_page_load_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
        sa.UniqueConstraint("page_load_id", "number", name=op.f("uq_event_page_load_id_number")),
    )


def downgrade() -> None:
    op.drop_table("event")
    with op.batch_alter_table("page_load", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_page_load_worker_id"))
        batch_op.drop_index(batch_op.f("ix_page_load_showing_id"))

    op.drop_table("page_load")
    op.drop_table("judgment")
    with op.batch_alter_table("showing", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_showing_pair_id"))

    op.drop_table("showing")
    op.drop_table("ballot")
    op.drop_table("summary")
    with op.batch_alter_table("slot", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_slot_topic_id"))

    op.drop_table("slot")
    with op.batch_alter_table("platform_entry", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_platform_entry_identity_id"))

    op.drop_table("platform_entry")
    op.drop_table("pair")
    op.drop_table("intent")
    op.drop_table("topic")
    op.drop_table("task_table")
    op.drop_table("system")
    op.drop_table("platform_identity")
    op.drop_table("assignment")
    op.drop_table("worker")
    op.drop_table("task")
    op.drop_table("study")
    op.drop_table("setting")
