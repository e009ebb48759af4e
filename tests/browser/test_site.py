"""The site as it is opened from a folder: no code is cut at 1,280 pixels, and search asks for nothing that a file may not read."""

import shutil
from pathlib import Path

from playwright.sync_api import BrowserContext

STATIC = Path(__file__).resolve().parents[2] / "docs" / "static"
COMMAND = "$ prefcal import survey.csv -o tables --topic query --worker person --left first --right second --choice better"
TABLE = "parameter" + " " * 60 + "estimate" + " " * 60 + "95 %"
HELP = "  --study-end TIME    Until when people could come back, in ISO 8601, 88 characters wide"
PAGE = """<!DOCTYPE html><html lang="en"><head><title>A page</title><link rel="stylesheet" href="site.css">
<style>pre {{ overflow: auto; font-size: 13px; }} .content {{ width: 46em; }}</style>
<script>const DOCUMENTATION_OPTIONS = {{ SHOW_SEARCH_SUMMARY: true }};</script><script src="site.js"></script></head>
<body><div class="content"><article>{blocks}</article></div></body></html>"""


def opened(desktop: BrowserContext, folder: Path, *blocks: str):
    """Open a page with blocks of code from a folder, with the site's own style and script."""
    for name in ("site.css", "site.js"):
        shutil.copy(STATIC / name, folder)
    (folder / "page.html").write_text(
        PAGE.format(blocks="".join(f"<pre>{block}</pre>" for block in blocks)), encoding="utf-8"
    )
    page = desktop.new_page()
    page.goto((folder / "page.html").as_uri())
    return page


def test_long_commands_are_wrapped_and_tables_keep_their_columns(desktop, tmp_path):
    """What lay beyond the edge was read by nobody."""
    page = opened(desktop, tmp_path, COMMAND * 2, TABLE, HELP)
    cut = page.locator("pre").evaluate_all("blocks => blocks.map(b => b.scrollWidth > b.clientWidth)")

    assert cut == [False, True, False]
    assert page.locator("pre.wraps").count() == 1


def test_search_in_a_folder_asks_for_no_page(desktop, tmp_path):
    """A browser refuses that for files, once for each page found."""
    page = opened(desktop, tmp_path)

    assert page.evaluate("DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY") is False
