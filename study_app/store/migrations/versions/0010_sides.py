"""What systems show is stored as blocks, each with its key; table media has the bytes of pictures."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = '0010'
down_revision = '0009'
branch_labels = None
depends_on = None

SAME = ('id', 'kind', 'text', 'words', 'chars', 'at', 'title', 'window', 'html', 'url')
"""Fields that keep their names; what is empty, zero or absent is not written."""
NAMED = {'first': ('f{0}', 0, None), 'pushes': ('p{0}', 1, 'update'), 'list': ('r{0}', 1, 'link'), 'updates': ('u{0}', 1, 'update')}
"""The list of a content -> key of an element in it, the place of the first, and the kind of all where they do not say it."""


def upgrade() -> None:
    op.create_table('media',
        sa.Column('sha256', sa.String(), nullable=False),
        sa.Column('mime', sa.String(), nullable=False),
        sa.Column('width', sa.Integer(), nullable=True),
        sa.Column('height', sa.Integer(), nullable=True),
        sa.Column('bytes', sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint('sha256', name=op.f('pk_media'))
    )
    _rewrite('summary', side_of)
    _rewrite('stream', stream_of)


def _rewrite(name: str, make: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Rewrite the content of every row of a table, one at a time: streams are long."""
    table = sa.table(name, sa.column('id', sa.Integer()), sa.column('content', sa.JSON()))
    connection = op.get_bind()
    for row in connection.scalars(sa.select(table.c.id)).all():
        is_row = table.c.id == row
        content = connection.scalars(sa.select(table.c.content).where(is_row)).one()
        connection.execute(sa.update(table).where(is_row).values(content=make(content)))


def side_of(content: dict[str, Any]) -> dict[str, Any]:
    """Return a summary, a push stream, a ranked list or an answer as blocks."""
    [name] = content
    return {'blocks': _blocks(name, content[name])}


def stream_of(content: dict[str, Any]) -> dict[str, Any]:
    """Return a stream whose updates are blocks with what they bring beside them."""
    updates = content['updates']
    return {
        'start': content['start'],
        'end': content['end'],
        'updates': _blocks('updates', updates),
        'nuggets': [update['nuggets'] for update in updates],
    }


def _blocks(name: str, elements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    key, first, kind = NAMED[name]
    return [_block(element, key.format(place), kind) for place, element in enumerate(elements, start=first)]


def _block(element: dict[str, Any], key: str, kind: str | None) -> dict[str, Any]:
    given = {'kind': kind, **element}
    block = {'key': key} | {name: given[name] for name in SAME if given.get(name) or name == 'at' and name in given}
    if element.get('list'):
        block['list_place'] = element['list']
    if element.get('second'):
        below = enumerate(element['second'])
        block['inside'] = [_block(item, f's{key[1:]}.{number}', None) for number, item in below]
    return block
