# SPDX-License-Identifier: Apache-2.0
"""The table of an application's analysis."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from rclrt_py.analyses.chains import Analysis, Assumption, CauseEffectChain, Chain
from rclrt_py.analyses.links import Link
from rclrt_py.runs.cause_effect_way import term_text
from rclrt_py.terminal.table import Columns
from rclrt_py.text import deadline, exact

WIDTH = 12
SHOWN = 4
"""Number of terms and reasons that are shown."""
BOUNDS = {"picas": ("PiCAS ms", "sound ms")}
CONTRIBUTIONS = {
    "own": "its own work, {releases} releases of {id}",
    "interference": "{releases} releases of {id}",
    "sets": "{releases} sets of {id}, with the callbacks after it",
    "started": "{id}, if it had started, with the callbacks after it",
    "other_input": "until the other input of {id} comes",
    "callback": "{id}, from being ready to its end",
    "hop": "the message to {id}",
    "link": "the message to {id}, over the link",
    "segment": "{releases} callbacks up to {id}, from ready to end",
    "ready_sets": "{releases} ready sets, until {id} has ended",
    "late": "{id} is released late",
    "background": "in the background, {releases} milliseconds",
    "stall": "while the CPU stood still",
    "waits": "{id} waits",
}


def _common_conditions(chains: list[Chain]) -> list[str]:
    """Returns the conditions of every chain, if there are several chains."""
    if len(chains) < 2:
        return []
    return [
        each
        for each in chains[0]["assumptions"]
        if all(each in chain["assumptions"] for chain in chains)
    ]


def assumption_lines(assumptions: Sequence[Assumption], all_of_them: bool) -> Iterator[str]:
    """Yields the numbered assumptions of every bound: all of them, or those that are relevant."""
    shown = [each for each in assumptions if all_of_them or each["relevant"]]
    if not shown:
        return
    yield "Every bound assumes:"
    for number, each in enumerate(shown, 1):
        head = f"{number:3}. {each['id']}: "
        yield from textwrap.wrap(f"{head}{each['text']}.", 118, subsequent_indent=" " * 5)
    if hidden := len(assumptions) - len(shown):
        yield f"     {hidden} more are about what this application does not have: --assumptions"


def table(
    result: Analysis, all_assumptions: bool = False, explained: str | None = None
) -> Iterator[str]:
    """Yields a line per chain, the longest terms of its bound, and the reasons of the answer. The
    chain with the id `explained` is shown with all terms."""
    under = f" under {result['executor']}" if "executor" in result else ""
    yield (
        f"{result['application']}{under}, utilisation {result['utilisation']:.3f}, "
        f"test: {result['test']}"
    )
    common = _common_conditions(result["chains"])
    heads = (*BOUNDS.get(result["test"], ("bound ms",)), "deadline ms", "verdict")
    names = ("chain", *(chain["id"] for chain in result["chains"]))
    columns = Columns.named(names, *[WIDTH] * len(heads))
    yield columns.line("chain", *heads)
    for chain in result["chains"]:
        beside = [exact(chain["sound_ms"])] if "sound_ms" in chain else []
        cells = (
            exact(chain["bound_ms"]),
            *beside,
            deadline(chain["deadline_ms"]),
            chain["verdict"],
        )
        yield columns.line(chain["id"], *cells, f"  {chain['note']}" if chain["note"] else "")
        shown = len(chain["why"]) if chain["id"] == explained else SHOWN
        yield from _reasons(chain, common, columns, shown)
    yield from _cause_effect_lines(result.get("cause_effect_chains", []), common)
    yield from _link_lines(result.get("links", []))
    for queue in result.get("queues", ()):
        if not queue["holds"]:
            most = queue["pending_bound"]
            waiting = "an unknown number of" if most is None else f"up to {most}"
            keeps = f"the queue keeps {queue['depth']}"
            yield f"{queue['id']}: {waiting} instances may wait at once, and {keeps}"
    for condition in common:
        yield from textwrap.wrap(f"Each bound holds if {condition}.", 118)
    yield ""
    yield f"feasible: {'yes' if result['feasible'] else 'not proved'}"
    if "not_searched" in result:
        yield f"Not searched for a miss: {result['not_searched']}."
    if "searched_without" in result:
        without = " and ".join(result["searched_without"])
        yield f"The search for a miss leaves these overheads out: {without}."
    if "tests" in result and not result["tests"]["harmonic"]["applies"]:
        yield f"The harmonic test does not apply: {result['tests']['harmonic']['why_not']}."
    yield from assumption_lines(result["assumptions"], all_assumptions)


def _cause_effect_lines(chains: Sequence[CauseEffectChain], common: Sequence[str]) -> Iterator[str]:
    """Yields a table of the cause-effect chains, with the terms of both bounds."""
    if not chains:
        return
    heads = ("reaction ms", "at most", "age ms", "at most", "verdict")
    names = ("cause-effect chain", *(chain["id"] for chain in chains))
    columns = Columns.named(names, *[WIDTH] * len(heads))
    terms = Columns(*columns.widths[:4])
    yield ""
    yield columns.line("cause-effect chain", *heads)
    for chain in chains:
        times = (chain[key] for key in ("reaction_ms", "max_reaction_ms", "age_ms", "max_age_ms"))
        note = f"  {chain['note']}" if chain["note"] else ""
        yield columns.line(chain["id"], *map(exact, times), chain["verdict"], note)
        for term in chain["why"]:
            text = term_text(term["kind"], term["chain"], term["callback"])
            age = exact(term["age_ms"]) if term["age_ms"] else ""
            yield terms.line("", exact(term["reaction_ms"]), "", age, f"  {text}")
        for assumption in chain["assumptions"]:
            if assumption not in common:
                yield columns.indent + f"  if {assumption}"


def _link_lines(links: Sequence[Link]) -> Iterator[str]:
    """Yields a table of the directions of links that messages take."""
    if not links:
        return
    names = [f"{each['link']}: {each['sender']} to {each['receiver']}" for each in links]
    columns = Columns.named(("link", *names), WIDTH, WIDTH, WIDTH + 2)
    yield ""
    yield columns.line("link", "load %", "delay ms", "buffer bytes")
    for name, each in zip(names, links, strict=True):
        backlog = each["backlog_bytes"]
        yield columns.line(
            name,
            f"{each['load'] * 100:.1f}",
            exact(each["delay_ms"]),
            "unbounded" if backlog is None else str(backlog),
        )
        yield from textwrap.wrap(each["note"], 118, initial_indent="  ", subsequent_indent="  ")


def _reasons(chain: Chain, common: Sequence[str], columns: Columns, shown: int) -> Iterator[str]:
    """Yields the lines below the line of a chain, with so many terms of its bound."""
    beside = Columns(*columns.widths[:2])
    unsafe = chain.get("unsafe", [])
    for reason in unsafe[:SHOWN]:
        yield columns.indent + f"  unsafe: {reason}"
    if len(unsafe) > SHOWN:
        yield columns.indent + f"  and {len(unsafe) - SHOWN} more reasons, see --json"
    for part in chain["why"][:shown]:
        if "callback" in part:
            text = CONTRIBUTIONS[part["kind"]].format(id=part["callback"], **part)
            text = re.sub(r"\b1 (release|set|callback|ready set|millisecond)s\b", r"1 \1", text)
            yield beside.line("", exact(part["total_ms"]), f"  {text}")
    if left := chain["why"][shown:]:
        total = exact(sum(part["total_ms"] for part in left))
        number = sum(1 if "callback" in part else part["terms"] for part in left)
        terms = "term" if number == 1 else "terms"
        option = "--json" if "callback" in left[-1] else f"--why {chain['id']}"
        yield beside.line("", total, f"  {number} more {terms}, see {option}")
    if chain["why"] and chain.get("waited_ms"):
        earlier = exact(-chain["waited_ms"])
        yield beside.line("", earlier, "  the part of this work before the release of the instance")
    if chain.get("reaction_ms") is not None:
        yield beside.line(
            "",
            exact(chain["reaction_ms"]),
            "  maximum reaction time to a change of the input, and age of data when replaced",
        )
    if (error := chain.get("stamp_error_ms")) is not None:
        text = "  by which a response that is judged by stamps of two clocks may be wrong"
        yield beside.line("", exact(error), text)
    for assumption in chain["assumptions"]:
        if assumption not in common:
            yield columns.indent + f"  if {assumption}"
