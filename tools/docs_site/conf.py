# SPDX-License-Identifier: Apache-2.0
"""Settings of Sphinx for the documentation as a site; tools/docs starts it.

The pages are the Markdown files of the repository, as they are. `pages.py` makes them a site.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import pages  # noqa: E402  # it is beside this file

project = "rclrt"
author = "the authors of rclrt"
extensions = ["myst_parser", "pages"]
root_doc = "docs/README"
include_patterns = list(pages.PATTERNS)
exclude_patterns = ["build", "install", "log", ".*", "demo-out", "dist"]
source_suffix = {".md": "markdown"}

# The anchors are those of forges, so that a link works there and here.
myst_heading_anchors = 6
# A page of the repository may begin at any level, and its sections may skip one.
suppress_warnings = ["myst.header", "myst.strikethrough"]

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
