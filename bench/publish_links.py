# SPDX-License-Identifier: Apache-2.0
"""Runs a chain over two network namespaces with `tbf` on the link, compares what was observed with
the bounds, and puts the tables into docs/results/links.md.

    tools/env python3 bench/publish_links.py [--seconds S] [--overheads FILE] [--print]

Without a file of overheads, those of rclrt_py.testing.shaped_link are assumed. The bound of a link
depends on them by the jitter of its messages only. Needs root, or user namespaces. The exit code is
3 if a packet waited longer than the bound for the arrivals that were measured.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rclrt_py.errors import EXIT_ABOVE_BOUND, EXIT_BAD_INPUT, EXIT_OK
from rclrt_py.stats import nearest_rank
from rclrt_py.terminal.table import markdown_lines
from rclrt_py.testing.busy_periods import BusyPeriod, busy_periods
from rclrt_py.testing.link_tap import PacketsLost
from rclrt_py.testing.namespaces import NotPermittedHere
from rclrt_py.testing.shaped_link import (
    ASSUMED_OVERHEADS,
    EXECUTOR,
    Outcome,
    Passage,
    ShapedLink,
    Stream,
    TooBusy,
    run_over,
)
from results_page import write_results

STREAMS = (Stream("points", 20_000, 100, 1), Stream("pose", 3000, 25, 2))
LINKS = (
    ShapedLink(rate_kbit=4000, burst_bytes=6000, streams=STREAMS),
    ShapedLink(rate_kbit=10_000, burst_bytes=16_000, streams=STREAMS),
    ShapedLink(
        rate_kbit=20_000,
        burst_bytes=4000,
        streams=(Stream("points", 60_000, 50, 1), Stream("pose", 3000, 10, 2)),
    ),
)
PARTS = ("sender", "shaper", "receiver")
RECEIVER_NS = 1_300_000
"""With the assumed overheads: 0.5 ms for the message, and for each of two callbacks 0.2 ms of work
and 0.2 ms for its dispatch."""


def main(command_line: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--overheads", type=Path)
    parser.add_argument("--statistic", default="max", help="of the overheads")
    parser.add_argument("--print", action="store_true", help="write no page")
    arguments = parser.parse_args(command_line)
    load = os.getloadavg()[0]
    os.environ.setdefault("ROS_DOMAIN_ID", "42")
    with tempfile.TemporaryDirectory(prefix="rclrt-links-") as name:
        directory = Path(name)
        outcomes = []
        try:
            for number, link in enumerate(LINKS):
                own = directory / str(number)
                own.mkdir()
                outcomes.append(
                    run_over(link, own, arguments.seconds, arguments.overheads, arguments.statistic)
                )
        except (NotPermittedHere, PacketsLost, TooBusy) as reason:
            print(f"publish_links.py: {reason}", file=sys.stderr)
            return EXIT_BAD_INPUT
        made = "\n".join(page(outcomes, arguments, load))
    print(made)
    if not arguments.print:
        write_results("links.md", "the links", Path(__file__).name, made)
    broken = any(largest_delay(each) > (each.bound_of_run_ns or 0) for each in outcomes)
    return EXIT_ABOVE_BOUND if broken else EXIT_OK


def page(outcomes: Sequence[Outcome], arguments: argparse.Namespace, load: float) -> Iterator[str]:
    results = outcomes[0].run.results
    realtime = "real-time" if results.context["realtime"] else "without real-time scheduling"
    yield (
        f"Measured {results.started_utc[:10]}: {results.context['cpu_model']}, Linux "
        f"{platform.release()}, {os.cpu_count()} CPUs, load {load:.1f} before; `preemptive`, "
        f"{realtime}, Fast DDS, {arguments.seconds:g} s for each link. Times in ms."
    )
    overheads = ASSUMED_OVERHEADS["executors"][EXECUTOR]
    yield (
        f"Measured overheads ({arguments.statistic})."
        if arguments.overheads
        else f"Assumed overheads: {overheads['dispatch_us']} µs for a dispatch, "
        f"{overheads['timer_lateness_us']} µs for a timer, "
        f"{ASSUMED_OVERHEADS['hop_us']['same_host']['max']} µs for a message besides the link."
    )
    yield from ("", "Periods that keep to the model:", "")
    heads: tuple[str, ...] = (
        *("link", "periods", "keep to it", "packets", "bound", "computed p50", "p99", "max"),
        *("share", "observed p50", "p99", "max", "above", "late shaper", "in time"),
    )
    yield from markdown_lines(heads, [kept_row(each) for each in outcomes])
    yield from ("", "All periods, with the bound for the jitter and burst of the run:", "")
    heads = (
        *("link", "jitter stated", "least jitter", "burst stated", "least burst"),
        *("bound of the run", "computed max", "share", "above"),
        *("shaper late p50", "p99", "max"),
    )
    yield from markdown_lines(heads, [run_row(each) for each in outcomes])
    yield from ("", "Responses of chains in periods that keep to the model:", "")
    heads = (
        *("link, chain", "n", "bound", "observed p50", "p99", "max", "±", "above"),
        *("late sender", "late shaper", "late receiver", "in time"),
    )
    yield from markdown_lines(heads, [row for each in outcomes for row in chain_rows(each)])


def label(outcome: Outcome) -> str:
    return f"{outcome.link.rate_kbit} kbit/s, {outcome.link.burst_bytes} bytes"


def ms(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:.3f}"


def three(times: Sequence[int]) -> list[str]:
    ordered = sorted(times)
    return [ms(nearest_rank(ordered, 50)), ms(nearest_rank(ordered, 99)), ms(ordered[-1])]


def largest_delay(outcome: Outcome) -> int:
    """Returns the longest time in an ideal shaper that gets the packets when the real one did."""
    counted = range(outcome.begin, len(outcome.packets))
    return max(outcome.computed[each] - outcome.packets[each].arrived for each in counted)


def kept_numbers(outcome: Outcome) -> list[int]:
    """Returns the packets of the periods that keep to the model."""
    return [
        number
        for each in periods_of(outcome)
        if each.keeps_the_model
        for number in range(each.begin, each.end)
    ]


def periods_of(outcome: Outcome) -> list[BusyPeriod]:
    return busy_periods(outcome, min(outcome.sender_bounds_ns.values()))


def kept_row(outcome: Outcome) -> list[str]:
    bound = outcome.bound_ns
    assert bound is not None
    periods, numbers = periods_of(outcome), kept_numbers(outcome)
    waited = [
        number for number in numbers if outcome.computed[number] > outcome.packets[number].arrived
    ]
    computed = [outcome.computed[each] - outcome.packets[each].arrived for each in waited]
    observed = [outcome.packets[each].left - outcome.packets[each].arrived for each in waited]
    late = [
        packet - ideal > outcome.link.access_ms * 1e6
        for ideal, packet in zip(computed, observed, strict=True)
        if packet > bound
    ]
    return [
        label(outcome),
        *(str(len(periods)), str(sum(each.keeps_the_model for each in periods))),
        *(str(len(numbers)), ms(bound), *three(computed), f"{max(computed) / bound:.2f}"),
        *(*three(observed), str(len(late)), str(sum(late)), str(len(late) - sum(late))),
    ]


def run_row(outcome: Outcome) -> list[str]:
    bound = outcome.bound_of_run_ns
    assert bound is not None
    counted = range(outcome.begin, len(outcome.packets))
    delays = [outcome.computed[each] - outcome.packets[each].arrived for each in counted]
    late = [each.shaper_late for each in outcome.passages if each.computed_delay > 0]
    return [
        label(outcome),
        " / ".join(ms(each) for each in outcome.sender_bounds_ns.values()),
        " / ".join(ms(each) for each in outcome.jitters_ns.values()),
        str(outcome.link.cross_bytes),
        str(outcome.cross_bytes),
        *(ms(bound), ms(max(delays)), f"{max(delays) / bound:.2f}"),
        str(sum(each > bound for each in delays)),
        *three(late),
    ]


def chain_rows(outcome: Outcome) -> Iterator[list[str]]:
    errors = {hop.receiver: hop.error_ms for hop in outcome.run.results.hops}
    kept = set(kept_numbers(outcome))
    for stream in outcome.link.streams:
        found = [each for each in outcome.of(stream.name) if each.number in kept]
        bound = outcome.chain_bounds_ns[stream.name]
        above = [each for each in found if each.response > bound]
        late = [late_parts(outcome, each) for each in above]
        yield [
            f"{label(outcome)}, {stream.name}",
            *(str(len(found)), ms(bound), *three([each.response for each in found])),
            *(f"{errors[f'take_{stream.name}']:.3f}", str(len(above))),
            *(str(sum(name in each for each in late)) for name in PARTS),
            str(sum(not each for each in late)),
        ]


def late_parts(outcome: Outcome, passage: Passage) -> set[str]:
    """Returns the parts of a response that took longer than the application and the overheads
    state: the timer and callbacks of the sender by its records, the shaper, and the receiver."""
    sender = passage.sender_end - passage.release > outcome.sender_bounds_ns[passage.stream]
    shaper = passage.shaper_late > outcome.link.access_ms * 1e6
    receiver = passage.end - passage.left > RECEIVER_NS
    flags = zip(PARTS, (sender, shaper, receiver), strict=True)
    return {name for name, is_late in flags if is_late}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
