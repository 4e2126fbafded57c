# SPDX-License-Identifier: Apache-2.0
"""The errors of rclrt, and their exit codes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

EXIT_OK = 0
EXIT_NO = 1
"""The answer is no: a deadline was missed, doctor found a blocker, a run did not complete."""
EXIT_BAD_INPUT = 2
EXIT_ABOVE_BOUND = 3
"""An observation is above a proved bound, and the host did not cause it."""


class RclrtError(Exception):
    """An error with a message for the user; it names the cause and the fix."""

    exit_code = EXIT_NO


class BadInput(RclrtError):
    """A file, an option or a directory from the user cannot be used."""

    exit_code = EXIT_BAD_INPUT


class RunFailed(RclrtError):
    """The measured program did not end as it should."""

    exit_code = EXIT_NO


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns `"; did you mean 'preemptive'?"`, or an empty text if no known word is close.

    Leading hyphens are not compared, because all options have them in common.
    """
    names = {each.lstrip("-"): each for each in known}
    close = difflib.get_close_matches(word.lstrip("-"), list(names), n=1, cutoff=0.6)
    return f"; did you mean '{names[close[0]]}'?" if close else ""
