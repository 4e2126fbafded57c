# SPDX-License-Identifier: Apache-2.0
"""Numbers and names as they are displayed."""

from __future__ import annotations

import unicodedata


def number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def exact(time_ms: float | None) -> str:
    """Returns the milliseconds to the nanosecond, without an exponent: "25.3", "0.000001".
    None is not known: a dash."""
    return "-" if time_ms is None else f"{time_ms:.6f}".rstrip("0").rstrip(".")


NO_DEADLINE_MS = 3_600_000.0
"""The largest deadline of a file, which a segment has that the file does not state as a chain."""


def deadline(time_ms: float) -> str:
    """Returns the milliseconds of a deadline; a dash for a chain without one."""
    return "-" if time_ms >= NO_DEADLINE_MS else exact(time_ms)


def ratio(value: float | None, reference: float | None) -> str:
    if value is None or not reference:
        return "-"
    quotient = value / reference
    return f"{quotient:.2f}" if quotient < 100 else f"{quotient:.0f}"


def clean(text: str) -> str:
    """Returns the text without control characters and line breaks: names come from files."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if _breaks(unicodedata.category(character)) else character
        for character in text
    )


def _breaks(category: str) -> bool:
    """Returns whether characters of a category of Unicode control a terminal, or end a line (the
    separators U+2028 and U+2029 do in YAML)."""
    return category.startswith("C") or category in ("Zl", "Zp")


def shorten(text: str, width: int) -> str:
    """Returns the clean text, cut to the width."""
    text = clean(text)
    return text if len(text) <= width else text[: width - 1] + "…"
