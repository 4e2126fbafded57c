# SPDX-License-Identifier: Apache-2.0
"""Settings of Sphinx for the documentation as a site; tools/docs starts it.

The pages are the Markdown files that git tracks, as they are. `pages.py` makes them a site.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import tree  # noqa: E402  # it is beside this file

project = "rclrt"
author = "the authors of rclrt"
extensions = ["myst_parser", "pages"]
root_doc = tree.INDEX
include_patterns = [f"{page}.md" for page in sorted(tree.tracked())]
source_suffix = {".md": "markdown"}

# The anchors are those of forges, so that a link works there and here.
myst_heading_anchors = 6
# A page of the repository may begin at any level, and its sections may skip one.
# `tree.py` reports a page that the tree lacks.
suppress_warnings = ["myst.header", "myst.strikethrough", "toc.not_included"]

smartquotes = False  # `--option` stays as it is

html_theme = "furo"
html_title = "rclrt"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "monokai"
