# SPDX-License-Identifier: Apache-2.0
"""Finds where an instance of a chain over several hosts was late.

The records of a run show the causes of a delay on the host that coordinates it, but not on the
others and not on the links. They do show when each callback of the chain was ready and ended, so
that the part that was longer than its bound is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rclrt_py.bounds.excesses import UNEXPLAINED, Excess
from rclrt_py.bounds.predicted import PredictedChain
from rclrt_py.runs.csv_reader import InstanceRow


def with_places(
    excesses: Iterable[Excess],
    rows: Iterable[InstanceRow],
    chains: Iterable[PredictedChain],
    hosts: Mapping[str, str],
) -> list[Excess]:
    """Returns the excesses. For those without a cause, of chains over several hosts, `what` states
    where they were late. `hosts`: the host of each callback; empty for an application without
    hosts."""
    over = {
        chain.id: chain
        for chain in chains
        if len({hosts.get(callback) for callback in chain.callbacks}) > 1
    }
    asked = {
        (each.chain, each.instance)
        for each in excesses
        if each.chain in over and each.cause == UNEXPLAINED and not each.what
    }
    if not asked:
        return list(excesses)
    found: dict[tuple[str, int], dict[str, InstanceRow]] = {}
    for row in rows:
        for token in row.tokens.split(";") if row.outcome == "ran" and row.tokens else ():
            name, _, number = token.rpartition(":")
            key = (name, int(number) if number.isdigit() else -1)
            if key in asked:
                found.setdefault(key, {})[row.callback] = row
    return [
        replace(
            each,
            what=_place(each, found.get((each.chain, each.instance), {}), over[each.chain], hosts),
        )
        if (each.chain, each.instance) in asked
        else each
        for each in excesses
    ]


def _place(
    excess: Excess,
    rows: Mapping[str, InstanceRow],
    chain: PredictedChain,
    hosts: Mapping[str, str],
) -> str:
    """Describes the first callback that ended later than its bound. Empty: none did."""
    before = ""
    for callback, bound_ms in zip(chain.callbacks, chain.step_bounds_ms, strict=True):
        row = rows.get(callback)
        if row is None:
            place = f"no run of {callback} on {hosts[callback]} took its message"
            return f"{before}; {place}" if before else place
        after_ms = (row.end - excess.release) / 1e6
        if bound_ms is not None and after_ms > bound_ms:
            return _late(callback, row, before, rows, chain, hosts) + (
                f"; the bound up to there is {bound_ms:.3f} ms"
            )
        before = (
            f"{callback} on {hosts[callback]} ended in time, {after_ms:.3f} ms after the release"
        )
    return ""


def _late(
    callback: str,
    row: InstanceRow,
    before: str,
    rows: Mapping[str, InstanceRow],
    chain: PredictedChain,
    hosts: Mapping[str, str],
) -> str:
    host = hosts[callback]
    ran_ms = (row.end - row.ready) / 1e6
    place = chain.callbacks.index(callback)
    if place == 0:
        return f"{callback} on {host} ended {ran_ms:.3f} ms after it was ready"
    previous = chain.callbacks[place - 1]
    hop_ms = (row.ready - rows[previous].end) / 1e6
    way = " over the link" if hosts[previous] != host else ""
    return (
        f"{before}; the message{way} made {callback} on {host} ready {hop_ms:.3f} ms later, and it "
        f"ended after {ran_ms:.3f} ms more"
    )
