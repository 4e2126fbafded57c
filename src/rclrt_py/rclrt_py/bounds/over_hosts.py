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
            if not before:
                return f"{callback} on {hosts[callback]} has no recorded run"
            return f"{before}; no run of {callback} on {hosts[callback]} took its message"
        after_ms = (row.end - excess.release) / 1e6
        if bound_ms is not None and after_ms > bound_ms:
            late = _late(row, before, excess.release, chain, hosts)
            return f"{late}; the bound up to there is {bound_ms:.3f} ms"
        before = (
            f"{callback} on {hosts[callback]} ended in time, {after_ms:.3f} ms after the release"
        )
    return ""


def _late(
    row: InstanceRow, before: str, release: int, chain: PredictedChain, hosts: Mapping[str, str]
) -> str:
    """Describes the run. Its times are of another clock than the release, perhaps: ± the error."""
    callback, host = row.callback, hosts[row.callback]
    ready_ms = max(0, row.ready - release) / 1e6
    error = f" (±{row.error / 1e6:.3f})" if row.error else ""
    times = f"ready {ready_ms:.3f} ms after the release, and ended at {_after(row, release)}{error}"
    place = chain.callbacks.index(callback)
    if place == 0:
        return f"{callback} on {host} was {times}"
    way = " over the link" if hosts[chain.callbacks[place - 1]] != host else ""
    return f"{before}; by the message{way}, {callback} on {host} was {times}"


def _after(row: InstanceRow, release: int) -> str:
    return f"{max(0, row.end - release) / 1e6:.3f} ms"
