"""A job names its folder below its own server's results, and no path: those of before are forgotten, since nobody knows whose they are."""

from alembic import op

revision = '0008'
down_revision = '0007'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute('UPDATE job SET folder = NULL')


def downgrade() -> None:
    op.execute('UPDATE job SET folder = NULL')
