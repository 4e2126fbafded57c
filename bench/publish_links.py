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
from rclrt_py.testing.namespaces import NotPermittedHere
from rclrt_py.testing.shaped_link import (
    ASSUMED_OVERHEADS,
    EXECUTOR,
    Outcome,
    Passage,
    ShapedLink,
    Stream,
    run_over,
)
from rclrt_py.testing.token_bucket import largest_backlog_bytes
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
        except NotPermittedHere as reason:
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
    yield from ("", "The link: from a message's last packet at the queue until it leaves.", "")
    heads = (
        *("link, topic", "messages", "bound", "computed p50", "p99", "max"),
        *("observed p50", "p99", "max", "above", "late sender", "late shaper", "unexplained"),
    )
    yield from markdown_lines(heads, [row for each in outcomes for row in link_rows(each)])
    yield from ("", "The jitter and burst that the packets kept to, and the bound for these.", "")
    heads = (
        *("link", "jitter stated", "least jitter", "burst stated", "least burst"),
        *("bound of the run", "computed max", "share", "buffer bound, bytes", "waiting max"),
        *("shaper late p50", "p99", "max"),
    )
    yield from markdown_lines(heads, [run_row(each) for each in outcomes])
    yield from ("", "The chains: from the timer to the end of the callback on the other host.", "")
    heads = (
        *("link, chain", "n", "bound", "observed p50", "p99", "max", "share", "±"),
        *("above", "late sender", "late shaper", "late receiver", "unexplained"),
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


def link_rows(outcome: Outcome) -> Iterator[list[str]]:
    bound = outcome.bound_ns
    assert bound is not None
    for stream in outcome.link.streams:
        found = outcome.of(stream.name)
        above = [each for each in found if each.link_delay > bound]
        sender = [each for each in above if each.computed_delay > bound]
        shaper = [each for each in above if each.computed_delay <= bound]
        unexplained = sum(each.computed_delay > (outcome.bound_of_run_ns or 0) for each in found)
        yield [
            f"{label(outcome)}, {stream.name}",
            *(str(len(found)), ms(bound)),
            *three([each.computed_delay for each in found]),
            *three([each.link_delay for each in found]),
            *(str(len(above)), str(len(sender)), str(len(shaper)), str(unexplained)),
        ]


def run_row(outcome: Outcome) -> list[str]:
    assert outcome.bound_of_run_ns is not None
    most = largest_delay(outcome)
    packets = [
        (packet.arrived, packet.left, packet.size) for packet in outcome.packets[outcome.begin :]
    ]
    late = [each.shaper_late for each in outcome.passages if each.computed_delay > 0]
    return [
        label(outcome),
        " / ".join(ms(each) for each in outcome.sender_bounds_ns.values()),
        " / ".join(ms(each) for each in outcome.jitters_ns.values()),
        str(outcome.link.cross_bytes),
        str(outcome.cross_bytes),
        *(ms(outcome.bound_of_run_ns), ms(most), f"{most / outcome.bound_of_run_ns:.2f}"),
        *(str(outcome.buffer_bytes), str(largest_backlog_bytes(packets))),
        *three(late),
    ]


def chain_rows(outcome: Outcome) -> Iterator[list[str]]:
    errors = {hop.receiver: hop.error_ms for hop in outcome.run.results.hops}
    for stream in outcome.link.streams:
        found = outcome.of(stream.name)
        bound = outcome.chain_bounds_ns[stream.name]
        above = [each for each in found if each.response > bound]
        causes = [cause(outcome, each) for each in above]
        responses = [each.response for each in found]
        yield [
            f"{label(outcome)}, {stream.name}",
            *(str(len(found)), ms(bound), *three(responses), f"{max(responses) / bound:.2f}"),
            f"{errors[f'take_{stream.name}']:.3f}",
            str(len(above)),
            str(causes.count("sender") + causes.count("queue")),
            *(str(causes.count(each)) for each in ("shaper", "receiver", "")),
        ]


def cause(outcome: Outcome, passage: Passage) -> str:
    """Returns which part of a response above its bound was the most above its own part of it. An
    empty text: all of them together do not make up for it."""
    late = outcome.parts_late_ns(passage)
    bound = outcome.chain_bounds_ns[passage.stream]
    if passage.response > bound + sum(late.values()):
        return ""
    return max(late, key=lambda name: late[name])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
