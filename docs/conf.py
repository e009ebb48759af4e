"""The site of prefcal: `make docs`.

The pages are the Markdown files of this folder, as they are read on a Git host. The pages of commands and of Python names are written
from the code by `site_pages`, into the folder `generated`, before Sphinx reads them. The examples of the gallery are run, on two
simulated studies that `site_gallery` makes once; notebooks are shown as they were run.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from importlib.metadata import version as installed  # noqa: E402

from pygments.lexers.special import TextLexer  # noqa: E402
from site_gallery import prepare  # noqa: E402
from site_pages import say_source, write_pages  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402
from sphinx.highlighting import lexers  # noqa: E402

project = "prefcal"
author = "The prefcal developers"
copyright = "The prefcal developers, Apache-2.0"  # noqa: A001
version = release = installed("prefcal")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery", "generated/gallery/*.ipynb", "generated/gallery/*.py"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

nb_execution_mode = "off"  # tests/test_notebooks.py runs them, and holds what they show to what they print
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "generated/gallery",
    "image_scrapers": ("site_gallery.save_drawing",),
    "capture_repr": (),
    "abort_on_example_error": True,
    "write_computation_times": False,
    "min_reported_time": 3600,
    "show_signature": False,
}

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

prepare(HERE / "gallery")
write_pages(HERE / "generated")


def _mend_docstring(
    _app: Sphinx, _what: str, _name: str, value: object, _options: object, lines: list[str]
) -> None:
    """Say where a measure is from. Keep the bars of P(i|q) and |C| as they are: outside literal blocks they would name a substitution."""
    say_source(value, lines)
    lines[:] = [line if line.startswith("    ") else line.replace("|", r"\|") for line in lines]


def _name_files_outside(_app: Sphinx, page: str, source: list[str]) -> None:
    """Name what a page links to outside this folder: on a Git host the link works, the site has no such page."""
    up = re.escape("../" * (page.count("/") + 1))
    source[0] = re.sub(rf"\[([^\]]+)\]\({up}(\w[^)#]*)[^)]*\)", r"\1 (`\2` in the source)", source[0])


def setup(app: Sphinx) -> None:
    """Read docstrings of formulas as they are meant, and links that leave the site."""
    app.connect("source-read", _name_files_outside)
    app.connect("autodoc-process-docstring", _mend_docstring, priority=400)
