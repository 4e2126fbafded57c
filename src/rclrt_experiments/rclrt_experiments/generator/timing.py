# SPDX-License-Identifier: Apache-2.0
"""Utilisations, periods and execution times: thesis, sections 6.2.4 and 6.2.5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from rclrt_py.errors import BadInput
from rclrt_py.files.json_reader import JsonValue

from rclrt_experiments.generator.draws import SHARE, Draws, randfixedsum, uunifast
from rclrt_experiments.generator.graph import ChainGraph, Kind
from rclrt_experiments.generator.rules import US_PER_HOUR, Rules

MOST_REDRAWS = 5000


@dataclass(frozen=True)
class ChainTime:
    """The period, utilisation and execution time of a chain. `execution_ns` is the utilisation
    times the period, rounded down to a nanosecond."""

    period_us: int
    utilisation: Decimal
    execution_ns: int

    @classmethod
    def of(cls, period_us: int, utilisation: Decimal) -> ChainTime:
        execution = (utilisation * period_us * 1000).quantize(Decimal("1e-6"))
        return cls(period_us, utilisation, int(execution))


class Infeasible(Exception):
    """No application obeys the rules. The message has the reason."""


def draw_utilisations(rules: Rules, draws: Draws) -> list[Decimal]:
    """Draws one utilisation for each chain. They sum up to the total exactly."""
    low, high = rules.min_chain_utilisation, rules.max_chain_utilisation
    if rules.utilisation == "randfixedsum":
        return randfixedsum(draws, rules.chain_count, rules.util_total, low, high)
    for _ in range(MOST_REDRAWS):
        shares = uunifast(draws, rules.chain_count, rules.util_total)
        if all(low <= share <= high for share in shares):
            return shares
    raise Infeasible(
        f"none of {MOST_REDRAWS} draws by uunifast has every chain's utilisation between {low} and "
        f"{high}; state 'utilisation': 'randfixedsum', which draws only such utilisations"
    )


def draw_periods(rules: Rules, draws: Draws, count: int) -> list[int]:
    """Draws `count` periods, in microseconds."""
    if rules.period_choice == "list":
        weights = rules.period_weights or (1.0,) * len(rules.periods_us)
        return [draws.weighted(rules.periods_us, weights) for _ in range(count)]
    first, last = rules.grid
    step = rules.period_step_us
    if rules.period_choice == "uniform":
        return [(first + draws.index(last - first + 1)) * step for _ in range(count)]
    steps = (
        (draws.log_uniform(first * step, last * step) / step).to_integral_value(ROUND_HALF_EVEN)
        for _ in range(count)
    )
    return [min(max(int(each), first), last) * step for each in steps]


def read_times(document: JsonValue, rules: Rules) -> list[ChainTime]:
    """Reads the period "T" and CPU time "C" of each chain, in microseconds. Throws BadInput unless
    the document has as many entries as the rules have chains, and their utilisation is within 0.001
    of util_total."""
    times = []
    for item in document.items():
        period_us, execution_us = item.get("T").integer(), item.get("C").integer()
        if not 0 < period_us <= US_PER_HOUR:
            item.get("T").fail(f"a period from 1 to {US_PER_HOUR}")
        if not 0 <= execution_us <= US_PER_HOUR:
            item.get("C").fail(f"a time from 0 to {US_PER_HOUR}")
        share = Decimal(execution_us) / period_us
        times.append(ChainTime(period_us, share, execution_us * 1000))
    if len(times) != rules.chain_count:
        raise BadInput(
            f"{document.file}: has {len(times)} chains; expected {rules.chain_count}, "
            "as chain_count says"
        )
    total = sum((time.utilisation for time in times), Decimal(0))
    if abs(total - rules.util_total) > Decimal("0.001"):
        raise BadInput(
            f"{document.file}: the utilisation is {total:.4f}; expected util_total, "
            f"{rules.util_total}, within 0.001"
        )
    return times


def draw_times(
    rules: Rules,
    graph: ChainGraph,
    draws: Draws,
    given: Sequence[ChainTime] | None,
    drawn: Sequence[int],
) -> list[ChainTime]:
    """Draws the period and utilisation of each chain, or takes them from `given`. `drawn` has, for
    each chain, the drawn chain of which it is a part: parts share the utilisation, and have periods
    of their own unless these are given, or the rule sample_share_period is set. Chains that share a
    timer get the period of the first of them; so do chains that meet in a sync, if the rule
    sync_share_period is set."""
    more = drawn[rules.chain_count :]
    if given is None:
        utilisations = draw_utilisations(rules, draws)
        periods = draw_periods(rules, draws, rules.chain_count)
    else:
        utilisations = [time.utilisation for time in given]
        periods = [time.period_us for time in given]
    shared = given is not None or rules.sample_share_period
    if not shared:
        periods += draw_periods(rules, draws, len(more))
    if more:
        utilisations = _of_parts(utilisations, graph, drawn)
    if rules.fastest_first:
        fastest = periods.index(min(periods))
        periods[0], periods[fastest] = periods[fastest], periods[0]
    if shared:
        periods += [periods[number] for number in more]
    owner = _owners(graph, rules.sync_share_period)
    return [
        ChainTime.of(periods[owner[number]], utilisation)
        for number, utilisation in enumerate(utilisations)
    ]


def _of_parts(
    utilisations: Sequence[Decimal], graph: ChainGraph, drawn: Sequence[int]
) -> list[Decimal]:
    """Returns the utilisation of each part of the drawn chains, by its number of callbacks. A sync
    does no work. The first part gets what rounding leaves."""
    working = [sum(graph.kinds[each] is not Kind.SYNC for each in chain) for chain in graph.chains]
    whole = [0] * len(utilisations)
    for number, count in zip(drawn, working, strict=True):
        whole[number] += count
    result = list(utilisations)
    for number, count in list(zip(drawn, working, strict=True))[len(utilisations) :]:
        share = (utilisations[number] * count / whole[number]).quantize(SHARE)
        result[number] -= share
        result.append(share)
    return result


def _owners(graph: ChainGraph, through_syncs: bool) -> list[int]:
    """Returns, for each chain, the first of the chains that share its period."""
    owner = list(range(len(graph.chains)))

    def find(chain: int) -> int:
        while owner[chain] != chain:
            chain = owner[chain]
        return chain

    for callback, kind in graph.kinds.items():
        if kind is Kind.TIMER or (kind is Kind.SYNC and through_syncs):
            first, *others = sorted(find(chain) for chain in graph.chains_of(callback))
            for other in others:
                owner[other] = first
    return [find(chain) for chain in owner]


def split_times(graph: ChainGraph, times: Sequence[ChainTime]) -> dict[int, int]:
    """Returns the execution time of each callback, in nanoseconds. The time of a chain is split
    evenly over its callbacks. A callback of several chains gets the smallest of its shares, and the
    callbacks of one chain alone get the rest of that chain's time. A sync gets 0."""
    shares: dict[int, int] = {
        callback: 0 for callback, kind in graph.kinds.items() if kind is Kind.SYNC
    }
    working = [[each for each in chain if each not in shares] for chain in graph.chains]
    sharing: dict[int, list[int]] = {}
    for number, chain in enumerate(working):
        for callback in chain:
            sharing.setdefault(callback, []).append(number)
    for callback, numbers in sharing.items():
        if len(numbers) > 1:
            shares[callback] = min(
                times[number].execution_ns // len(working[number]) for number in numbers
            )
    for number, chain in enumerate(working):
        own = [each for each in chain if each not in shares]
        left = times[number].execution_ns - sum(shares.get(each, 0) for each in chain)
        for n, callback in enumerate(own):
            shares[callback] = left * (n + 1) // len(own) - left * n // len(own)
    return shares
