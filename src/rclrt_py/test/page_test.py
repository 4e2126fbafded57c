# SPDX-License-Identifier: Apache-2.0
"""Pages: one file, names as plain text, and a policy that allows only its own style and script."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re

import pytest
from rclrt_py.pages.page import (
    embed,
    figure,
    heading,
    make_page,
    paragraph,
    plain_page,
    table,
)

EVIL = "<img src=x onerror='window.hacked=1'>"


def policy_of(page: str) -> set[str]:
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert found is not None
    return set(html.unescape(found[1]).split("; "))


def digest(element: str, page: str) -> str:
    """Returns the hash that a browser computes of an element's text."""
    found = re.search(f"<{element}>(.*?)</{element}>", page, re.DOTALL)
    assert found is not None
    return base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()


def test_the_policy_names_style_and_script_and_allows_nothing_else() -> None:
    page = make_page("title", "<main></main>", "p { margin: 0 }\n", "'use strict';\n")
    assert policy_of(page) == {
        "default-src 'none'",
        f"style-src 'sha256-{digest('style', page)}'",
        f"script-src 'sha256-{digest('script', page)}'",
        "base-uri 'none'",
        "form-action 'none'",
    }


def test_a_plain_page_has_and_may_run_no_script() -> None:
    page = plain_page("title", [heading(1, "one"), paragraph("two", "note")])
    assert "<script" not in page
    assert not any(each.startswith("script-src") for each in policy_of(page))
    assert '<h1>one</h1>\n<p class="note">two</p>' in page


def test_names_are_text_wherever_they_stand() -> None:
    parts = [heading(2, EVIL), paragraph(EVIL), table([EVIL], [[EVIL]]), figure("<svg/>", EVIL)]
    page = plain_page(EVIL, parts)
    assert "<img" not in page
    assert page.count(html.escape(EVIL)) == 6
    assert "<svg/>" in page


@pytest.mark.parametrize(
    "text", ["</script>", "<!--", "\u2028", "\u2029", "&lt;", "'\"\\", "\x00", "😀"]
)
def test_embedded_json_cannot_end_its_script_element(text: str) -> None:
    embedded = embed({"name": text})
    assert json.loads(embedded) == {"name": text}
    assert embedded.isascii()
    assert not set("<>&") & set(embedded)


def test_not_a_number_is_not_embedded() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        embed({"p99": float("nan")})
