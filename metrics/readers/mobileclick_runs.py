"""Runs of two-layered summaries in the XML of NTCIR MobileClick.

::

    <results>
      <sysdesc>what the system does</sysdesc>
      <result qid="Q1">
        <first> <iunit uid="U1"/> <link iid="I1"/> ... </first>
        <second iid="I1"> <iunit uid="U2"/> ... </second>
      </result>
    </results>

Each link's intent has one second layer, which may be empty, and each second layer a link. Comments are allowed, text
outside sysdesc is ignored.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from metrics.errors import MAX_FAULTS_SHOWN, FaultLog, closest_name, raise_all
from metrics.readers.lines import run_name
from metrics.readers.mobileclick import DEFINED_IN
from metrics.readers.trees import XmlElement, read_xml
from metrics.summaries.two_layered import Collection, IUnit, Link, Query, Run, Summary

CHILDREN = {
    "results": ("sysdesc", "result"),
    "sysdesc": (),
    "result": ("first", "second"),
    "first": ("iunit", "link"),
    "second": ("iunit",),
    "iunit": (),
    "link": (),
}
"""Allowed children of every tag."""

ATTRIBUTES = {"result": "qid", "second": "iid", "iunit": "uid", "link": "iid"}
"""Required attribute of each tag that has any."""


TABLES = {"query": "queries", **dict(DEFINED_IN.values())}
"""Table of the collection that defines each kind of id."""


def read_summary_run(path: str | Path, collection: Collection, *, name: str | None = None) -> Run:
    """Read and check a run.

    Parameters
    ----------
    path : str or Path
        The file.
    collection : Collection
        Whose queries, iUnits and intents the run is about.
    name : str, optional
        What the run is called; by default like the file, see `metrics.readers.lines.run_name`.

    Returns
    -------
    Run
        One summary a query.

    Raises
    ------
    InputError
        With every fault: not well formed, or a DOCTYPE (these two end the search for others); an unknown or missing
        tag or attribute; no sysdesc, or several; a result without a first layer, or with several; an unknown query,
        iUnit or intent, or one of another query; a query twice or missing; a second layer twice or without a link;
        a link without a second layer.

    Examples
    --------
    >>> import prefcal
    >>> collection = prefcal.read_summary_collection("examples/two_layered/collection")
    >>> run = prefcal.read_summary_run("examples/two_layered/runs/good-order.xml", collection)
    >>> run.name
    'good-order'
    """
    root = read_xml(
        path,
        hint="a run is XML whose outermost tag is <results>; the collection's tables go to --collection",
    )
    log = FaultLog(path)
    if root.tag != "results":
        log.add(f"the outermost tag is <{root.tag}>", line=root.line, cure="write <results>")
        log.raise_if_any()
    _check_markup(root, log)
    reader = _RunReader(collection, log)
    sysdesc = reader.only(root, "sysdesc")
    summaries = {query.id: reader.summary(query, result) for query, result in reader.results(root)}
    raise_all([log])
    return Run(
        name=run_name(path) if name is None else name,
        description="" if sysdesc is None else sysdesc.text.strip(),
        summaries=summaries,
    )


def _check_markup(element: XmlElement, log: FaultLog) -> None:
    """Note unknown and missing attributes and unknown tags, in the whole tree.

    Tags below an unknown tag are not checked.
    """
    attribute = ATTRIBUTES.get(element.tag)
    others = [name for name in element.attributes if name != attribute]
    if attribute is not None and attribute not in element.attributes:
        near = closest_name(attribute, others)
        cure = f"rename {near} to {attribute}" if near else f'write <{element.tag} {attribute}="...">'
        log.add(f"<{element.tag}> has no attribute {attribute}", line=element.line, cure=cure)
        others = [name for name in others if name != near]
    for name in others:
        log.add(f"<{element.tag}> has an unknown attribute {name}", line=element.line, cure="delete it")
    for child in element.children:
        if child.tag in CHILDREN[element.tag]:
            _check_markup(child, log)
        else:
            allowed = " or ".join(f"<{tag}>" for tag in CHILDREN[element.tag]) or "nothing"
            problem = f"unknown tag <{child.tag}> in <{element.tag}>"
            log.add(problem, line=child.line, cure=f"only {allowed} can stand there")


@dataclass(frozen=True, slots=True)
class _RunReader:
    """Reader of a run's known tags, which notes inconsistencies.

    It checks the run against itself and against the collection.
    """

    collection: Collection
    log: FaultLog

    def only(self, parent: XmlElement, tag: str) -> XmlElement | None:
        """Return the one child with this tag; note a missing or second one."""
        children = [child for child in parent.children if child.tag == tag]
        if not children:
            self.log.add(f"<{parent.tag}> has no <{tag}>", line=parent.line, cure=f"add <{tag}>...</{tag}>")
        for more in children[1:]:
            self.log.add(f"a second <{tag}> in <{parent.tag}>", line=more.line, cure="delete one of the two")
        return children[0] if children else None

    def results(self, root: XmlElement) -> Iterator[tuple[Query, XmlElement]]:
        """Yield each query with its result; note unknown, repeated or missing ones."""
        queries, lines = self.collection.queries, dict[str, int]()
        for name, result in _named(root, "result"):
            if name not in queries:
                self.note_unknown("query", name, queries, result.line)
            elif name in lines:
                problem = f"query {name!r} has a result on line {lines[name]} already"
                self.log.add(problem, line=result.line, cure="delete one of the two")
            else:
                lines[name] = result.line
                yield queries[name], result
        for name in queries:
            if name not in lines:
                cure = f'add a <result qid="{name}">'
                self.log.add(f"query {name!r} is missing", line=root.line, cure=cure)

    def summary(self, query: Query, result: XmlElement) -> Summary:
        """Read one result."""
        first = self.only(result, "first")
        second: dict[str, XmlElement] = {}
        for intent, layer in _named(result, "second"):
            if intent in second:
                problem = f"{intent!r} has a second layer on line {second[intent].line} already"
                self.log.add(problem, line=layer.line, cure="delete one of the two")
            elif self.is_known("iid", intent, query, layer.line):
                second[intent] = layer
        if first is not None:
            self.check_links(first, second, query)
        return Summary(
            first=() if first is None else tuple(self.elements(first, query)),
            second={
                intent: tuple(
                    element for element in self.elements(layer, query) if isinstance(element, IUnit)
                )
                for intent, layer in second.items()
            },
        )

    def check_links(self, first: XmlElement, second: Mapping[str, XmlElement], query: Query) -> None:
        """Note links without second layer, and second layers without link, once an intent."""
        links = {
            intent: link for intent, link in reversed(list(_named(first, "link"))) if intent in query.intents
        }
        for intent, link in links.items():
            if intent not in second:
                cure = f'add <second iid="{intent}"></second>'
                self.log.add(f"the link to {intent!r} has no second layer", line=link.line, cure=cure)
        for intent, layer in second.items():
            if intent not in links:
                cure = f'add <link iid="{intent}"/> to <first>, or delete this layer'
                self.log.add(f"no link leads to the second layer of {intent!r}", line=layer.line, cure=cure)

    def elements(self, layer: XmlElement, query: Query) -> Iterator[IUnit | Link]:
        """Yield a layer's iUnits and links; note those unknown to the query."""
        for child in layer.children:
            attribute = ATTRIBUTES.get(child.tag, "")
            name = child.attributes.get(attribute)
            if name is not None and self.is_known(attribute, name, query, child.line):
                yield IUnit(name) if attribute == "uid" else Link(name)

    def is_known(self, attribute: str, name: str, query: Query, line: int) -> bool:
        """Return whether an iUnit or intent is one of the query's; note it otherwise."""
        kind, table = DEFINED_IN[attribute]
        if name in getattr(query, table):
            return True
        others = self.collection.queries.values()
        owner = next((other.id for other in others if name in getattr(other, table)), None)
        if owner is None:
            self.note_unknown(kind, name, getattr(query, table), line)
        else:
            problem = f"{kind} {name!r} is one of query {owner!r}, not of {query.id!r}"
            self.log.add(problem, line=line, cure="delete it")
        return False

    def note_unknown(self, kind: str, name: str, known: Iterable[str], line: int) -> None:
        """Note an id that the collection does not have."""
        near = closest_name(name, known) if len(self.log.faults) < MAX_FAULTS_SHOWN else None
        owner = self.collection.files.get(TABLES[kind], self.collection.name)
        cure = f"did you mean {near!r}?" if near else f"add it to {owner}, or delete it"
        self.log.add(f"unknown {kind} {name!r}", line=line, cure=cure)


def _named(parent: XmlElement, tag: str) -> Iterator[tuple[str, XmlElement]]:
    """Yield the children that have this tag and the attribute that identifies them."""
    for child in parent.children:
        name = child.attributes.get(ATTRIBUTES[tag])
        if child.tag == tag and name is not None:
            yield name, child
