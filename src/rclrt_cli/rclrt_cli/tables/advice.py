# SPDX-License-Identifier: Apache-2.0
"""The table of changes that make data younger."""

from __future__ import annotations

from collections.abc import Iterator

from rclrt_py.analyses.advice import ChainAdvice, Change
from rclrt_py.terminal.table import Columns
from rclrt_py.text import exact

WIDTH = 12
CHANGES = {
    "period": "{callback} every {time} ms",
    "offset": "offset_ms: {time} of {callback}, and a stated one of {first}",
    "message": "{callback} runs for each message of {last}, in place of its timer",
    "urgent": "{callbacks} above all other priorities",
    "patient": "{callback} below the priorities of {writer}",
}
LOSES = "; then another deadline or limit is no longer proved"


def table(chains: list[ChainAdvice]) -> Iterator[str]:
    """Yields, for each chain, its bounds and those with each change."""
    for chain in chains:
        columns = Columns.named((f"to help {chain['id']}", "as it is", "with"), WIDTH, WIDTH)
        yield ""
        yield columns.line(f"to help {chain['id']}", "reaction ms", "age ms")
        yield columns.line("as it is", exact(chain["reaction_ms"]), exact(chain["age_ms"]))
        for change in chain["changes"]:
            times = exact(change["reaction_ms"]), exact(change["age_ms"])
            yield columns.line("with", *times, f"  {_text(change)}")
        if not chain["changes"]:
            yield "None of the changes that were tried lowers a bound."


def _text(change: Change) -> str:
    text = CHANGES[change["kind"]].format(
        callback=change["callback"],
        callbacks=_listed(change["callbacks"]),
        writer=_listed(change["writer"]),
        first=change["writer"][0] if change["writer"] else "",
        last=change["writer"][-1] if change["writer"] else "",
        time=exact(change["time_ms"]),
    )
    return text if change["keeps_the_rest"] else text + LOSES


def _listed(names: list[str]) -> str:
    return ", ".join(names)
