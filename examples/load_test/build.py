"""Make the load test's files from the bundled study: its first query, and each system's summary of it.

python examples/load_test/build.py
"""

from pathlib import Path

from lxml import etree

HERE = Path(__file__).resolve().parent
BUNDLED = HERE.parent / "two_layered"


def main() -> None:
    """Write collection/ and runs/ beside this file."""
    query = (BUNDLED / "collection" / "queries.tsv").read_text(encoding="utf-8").split("\t")[0]
    for folder in ("collection", "runs"):
        (HERE / folder).mkdir(exist_ok=True)
    for name in ("queries.tsv", "intents.tsv", "iunits.tsv"):
        lines = (BUNDLED / "collection" / name).read_text(encoding="utf-8").splitlines(keepends=True)
        kept = "".join(line for line in lines if line.startswith(f"{query}\t"))
        (HERE / "collection" / name).write_text(kept, encoding="utf-8")
    for path in sorted((BUNDLED / "runs").glob("*.xml")):
        tree = etree.parse(path)
        for result in tree.findall("result"):
            if result.get("qid") != query:
                tree.getroot().remove(result)
        etree.indent(tree)
        tree.write(HERE / "runs" / path.name, encoding="UTF-8", xml_declaration=True)


if __name__ == "__main__":
    main()
