# SPDX-License-Identifier: Apache-2.0
"""Explains why bounds exceed simulated responses: the largest ratios, sorted by cause.

    tools/env python3 bench/publish_tightness.py [--count N] [--worst N] [--print]

Draws N applications as `rclrt verify` does, and simulates each in a few random phasings. For the
chains with the largest ratio of bound to response, the search of `rclrt analyze` then looks for a
schedule with a longer one. The tables go into src/rclrt_analysis/README.md.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rclrt_experiments.generator.application import GeneratedApplication, draw_application
from rclrt_experiments.generator.feasibility import feasible_priorities, load
from rclrt_experiments.generator.rules import Rules
from rclrt_experiments.generator.timing import Infeasible
from rclrt_experiments.verification.verify import varied
from rclrt_py.files.atomic import write_atomically
from rclrt_py.native import analysis
from rclrt_py.runs.application import NO_DEADLINE_NS
from rclrt_py.terminal.table import markdown_lines
from results_page import HERE, begin, end, replaced

PAGE = HERE.parent / "src/rclrt_analysis/README.md"
EXECUTORS = ("preemptive", "edf", "wait_set")
PHASINGS = 8
LONGEST_NS = 2_000_000_000
PERIODS = 20
"""The simulated time in multiples of the longest period, up to LONGEST_NS."""
INSTANCES = 60_000
"""The limit of the search for each of the worst chains."""
SYNC_PART = 0.3
"""If waiting in a sync is at least this part of the bound, it counts as the cause."""

SEARCH = "a longer response exists: the search found one of at least half of the bound"
SYNC = "a whole window, or the other input's period, is waited for in syncs"
OFFSETS = "timers state random offsets, which keep the busy period's worst case away"
SUM = "callbacks on several CPUs, or under EDF, each bounded by itself"
ANY_ORDER = "a busy period in any order, where the policy has one"
REST = "other"
CAUSES = (SEARCH, SYNC, OFFSETS, SUM, ANY_ORDER, REST)


@dataclass(frozen=True)
class Chain:
    """A bound without assumptions of its own, and the longest simulated response."""

    seed: int
    number: int
    executor: str
    offsets: str
    bound_ns: int
    seen_ns: int
    parts: tuple[tuple[str, int], ...]
    """Kind and nanoseconds of each part of the bound."""

    @property
    def ratio(self) -> float:
        return self.bound_ns / self.seen_ns

    def part(self, kind: str) -> int:
        return sum(total for own, total in self.parts if own == kind)

    def cause(self, sought_ns: int) -> str:
        """`sought_ns`: the longest response that the search found."""
        if self.bound_ns < 2 * sought_ns:
            return SEARCH
        if self.part("other_input") > SYNC_PART * self.bound_ns:
            return SYNC
        if self.offsets == "random":
            return OFFSETS
        alone = [kind for kind, _ in self.parts if kind in ("segment", "callback", "ready_sets")]
        if len(alone) > 1:
            return SUM
        if self.executor != "preemptive" and self.part("interference") > 0:
            return ANY_ORDER
        return REST


def draw(seed: int) -> tuple[GeneratedApplication, dict[str, int], str] | None:
    rules = varied(Rules(random_seed=seed))
    try:
        application = draw_application(rules)
        return application, feasible_priorities(application), rules.offsets
    except Infeasible:
        return None


def chains_of(seed: int) -> Iterator[Chain]:
    drawn = draw(seed)
    if drawn is None:
        return
    application, priorities, offsets = drawn
    starts = {callbacks[0] for callbacks in application.graph.chains}
    longest = max(application.period_ns(start) for start in starts)
    phases = random.Random(seed)
    models = [load(application, priorities)]
    for _ in range(PHASINGS - 1 if offsets == "unstated" else 0):
        moved = {start: phases.randrange(application.period_ns(start) // 1000) for start in starts}
        models.append(load(replace(application, offsets_us=moved), priorities))
    for executor in EXECUTORS:
        bounds = analysis().chain_bounds(models[0], executor)
        seen = [0] * len(bounds)
        for number, model in enumerate(models):
            horizon = min(LONGEST_NS, PERIODS * longest)
            outcomes, _ = analysis().simulate(model, executor, horizon, seed=number)
            seen = [max(own, each.worst_ns) for own, each in zip(seen, outcomes, strict=True)]
        for number, (bound, worst) in enumerate(zip(bounds, seen, strict=True)):
            if bound.bound_ns is not None and not bound.assumptions and worst > 0:
                parts = tuple((part.kind, part.total_ns) for part in bound.why)
                yield Chain(seed, number, executor, offsets, bound.bound_ns, worst, parts)


def sought(chain: Chain) -> int:
    """Returns the longest response that the search finds: each result is the next deadline."""
    drawn = draw(chain.seed)
    assert drawn is not None
    application, priorities, _ = drawn
    worst = chain.seen_ns
    while True:
        deadlines = [NO_DEADLINE_NS] * len(application.deadlines_ns)
        deadlines[chain.number] = worst
        model: Any = load(replace(application, deadlines_ns=deadlines), priorities)
        wanted = [number == chain.number for number in range(len(model.chains))]
        found = analysis().find_counter_examples(
            model, chain.executor, wanted, instances=INSTANCES
        )[chain.number]
        if found is None or found.response_ns <= worst:
            return worst
        worst = found.response_ns


def median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def tables(chains: Sequence[Chain], count: int, most: int) -> str:
    overview: list[list[str]] = []
    causes: dict[str, list[list[float]]] = {cause: [[] for _ in EXECUTORS] for cause in CAUSES}
    for column, executor in enumerate(EXECUTORS):
        own = sorted((each for each in chains if each.executor == executor), key=lambda e: e.ratio)
        ratios = [each.ratio for each in own]
        p95 = ratios[int(len(ratios) * 0.95)]
        worst = own[-most:]
        ends = f"{worst[0].ratio:.1f}", f"{ratios[-1]:.0f}"
        overview.append(
            [f"`{executor}`", str(len(own)), f"{median(ratios):.2f}", f"{p95:.1f}", *ends]
        )
        for each in worst:
            causes[each.cause(sought(each))][column].append(each.ratio)
    table = [
        [cause] + [f"{len(own)} ({median(own):.0f})" if own else "-" for own in columns]
        for cause, columns in causes.items()
        if any(columns)
    ]
    worst_from = f"the worst {most} from"
    heads = ["executor", "bounds", "median", "95th percentile", worst_from, "largest"]
    return "\n".join(
        [
            f"`bench/publish_tightness.py --count {count}`, bound divided by the longest response "
            "seen:",
            "",
            *markdown_lines(heads, overview),
            "",
            f"The causes of the worst {most}, with their number and, in parentheses, their median "
            "ratio:",
            "",
            *markdown_lines(["", *(f"`{each}`" for each in EXECUTORS)], table),
        ]
    )


def main(command_line: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--worst", type=int, default=100)
    parser.add_argument("--print", action="store_true", help="write no page")
    arguments = parser.parse_args(command_line)
    chains = [chain for seed in range(arguments.count) for chain in chains_of(seed)]
    made = tables(chains, arguments.count, arguments.worst)
    if arguments.print:
        print(made)
        return 0
    page = PAGE.read_text(encoding="utf-8")
    marks = begin("tightness", "publish_tightness.py"), end("tightness")
    write_atomically(PAGE, replaced(page, *marks, made))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
