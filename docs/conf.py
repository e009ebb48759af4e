"""The site of prefcal: `make docs`.

The pages are the Markdown files of this folder, as they are read on a Git host. The pages of commands and of Python names are written
from the code by `site_pages`, into the folder `generated`, before Sphinx reads them.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from importlib.metadata import version as installed  # noqa: E402

from pygments.lexers.special import TextLexer  # noqa: E402
from site_pages import write_pages  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402
from sphinx.highlighting import lexers  # noqa: E402

project = "prefcal"
author = "The prefcal developers"
copyright = "The prefcal developers, Apache-2.0"  # noqa: A001
version = release = installed("prefcal")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"  # the docstrings have the types in words
napoleon_google_docstring = False
napoleon_use_ivar = True
maximum_signature_line_length = 88
add_module_names = False

copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = "$ "

html_theme = "furo"
html_title = f"prefcal {release}"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1a5a96", "color-brand-content": "#1a5a96"},
    "dark_css_variables": {"color-brand-primary": "#8fc1f0", "color-brand-content": "#8fc1f0"},
}

lexers["csv"] = TextLexer()

write_pages(HERE / "generated")


def _escape_bars(
    _app: Sphinx, _what: str, _name: str, _obj: object, _options: object, lines: list[str]
) -> None:
    """Keep the bars of P(i|q) and |C| as they are: outside literal blocks they would name a substitution."""
    lines[:] = [line if line.startswith("    ") else line.replace("|", r"\|") for line in lines]


def setup(app: Sphinx) -> None:
    """Read docstrings of formulas as they are meant."""
    app.connect("autodoc-process-docstring", _escape_bars)
