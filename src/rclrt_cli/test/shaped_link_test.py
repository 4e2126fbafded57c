# SPDX-License-Identifier: Apache-2.0
"""A chain over two network namespaces with `tbf` on the link: bound against observed.

The machine may be busy. So a message that is late is compared with what follows from when its
packets came: the least jitter with which they kept to the model, and the least burst of the rest.
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest
from rclrt_py.bounds.excesses import load_excesses
from rclrt_py.runs.run_data import Run
from rclrt_py.testing.busy_periods import busy_periods
from rclrt_py.testing.command import Rclrt
from rclrt_py.testing.link_tap import PacketsLost
from rclrt_py.testing.namespaces import permitted_or_skipped
from rclrt_py.testing.shaped_link import (
    EXECUTOR,
    Outcome,
    ShapedLink,
    Stream,
    TooBusy,
    run_over,
)
from rclrt_py.testing.wire_messages import messages_of

SEEN_LATER_NS = 50_000
"""The kernel reads the clock for the shaper before it stamps the packet, and the stamps are of
CLOCK_REALTIME: they are compared with each other within this."""
CPUS = sorted(os.sched_getaffinity(0))
LINK = ShapedLink(
    rate_kbit=4000,
    burst_bytes=6000,
    streams=(Stream("points", 20_000, 100, 1), Stream("pose", 3000, 25, 2)),
    cpus=(CPUS[0], CPUS[-1]),
)
ACCESS_NS = round(LINK.access_ms * 1e6)
SENDER_NS = 1_100_000
"""0.5 ms for the timer; for each of two callbacks 0.1 ms of work, and 0.2 ms for its dispatch."""
RECEIVER_NS = 1_300_000
"""0.5 ms for the message; for each of two callbacks 0.2 ms of work, and 0.2 ms for its dispatch."""


def outcome_of(link: ShapedLink, directory: Path, seconds: float) -> Outcome:
    with permitted_or_skipped():
        try:
            return run_over(link, directory, seconds)
        except (PacketsLost, TooBusy) as reason:
            pytest.skip(f"a busy machine: {reason}")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return outcome_of(LINK, tmp_path_factory.mktemp("link"), 5)


def test_the_kernels_shaper_is_the_token_bucket_of_the_model(outcome: Outcome) -> None:
    late = [
        packet.left - computed
        for packet, computed in zip(outcome.packets, outcome.computed, strict=True)
    ]
    assert min(late) > -SEEN_LATER_NS  # it never sends before it has the tokens
    longest = max(outcome.passages, key=lambda each: each.computed_delay)
    waited = [each for each in outcome.passages if 2 * each.computed_delay > longest.computed_delay]
    # And soon after that: the best of them by far less than it had to wait.
    assert min(each.shaper_late for each in waited) < longest.computed_delay / 10


def test_no_packet_waits_longer_than_the_bound_for_the_arrivals_of_the_run(
    outcome: Outcome,
) -> None:
    counted = range(outcome.begin, len(outcome.packets))
    delays = [outcome.computed[each] - outcome.packets[each].arrived for each in counted]
    assert outcome.bound_of_run_ns is not None
    assert max(delays) <= outcome.bound_of_run_ns
    assert outcome.bound_ns is not None
    if outcome.bound_of_run_ns < 1.2 * outcome.bound_ns:
        assert max(delays) > 0.4 * outcome.bound_of_run_ns  # and the bound is not just large


def test_no_packet_waits_longer_than_the_proved_bound_in_a_period_that_keeps_to_the_model(
    outcome: Outcome,
) -> None:
    assert outcome.bound_ns is not None
    kept = [each for each in busy_periods(outcome, SENDER_NS) if each.keeps_the_model]
    for period in kept:
        assert period.computed_ns <= outcome.bound_ns - ACCESS_NS
        if period.observed_ns <= period.computed_ns + ACCESS_NS:
            assert period.observed_ns <= outcome.bound_ns
    if not any(2 * each.computed_ns > outcome.bound_ns for each in kept):
        pytest.skip("a busy machine: no large message was sent as the model states")


def test_a_response_of_which_all_parts_keep_to_the_model_is_within_the_proved_bound(
    outcome: Outcome,
) -> None:
    """The parts are judged by what the application and the overheads state, not by bounds."""
    kept = {
        number
        for each in busy_periods(outcome, SENDER_NS)
        if each.keeps_the_model
        for number in range(each.begin, each.end)
    }
    in_time = [
        each
        for each in outcome.passages
        if each.number in kept
        and each.sender_end - each.release <= SENDER_NS
        and each.shaper_late <= ACCESS_NS
        and each.end - each.left <= RECEIVER_NS
    ]
    for each in in_time:
        assert each.response <= outcome.chain_bounds_ns[each.stream]
    if not in_time:
        pytest.skip("a busy machine: no instance was in time")


def test_the_results_state_where_a_response_above_its_bound_was_late(outcome: Outcome) -> None:
    above = load_excesses(outcome.run, ())
    assert all(each.what or each.by_host for each in above)


def test_the_times_of_the_run_agree_with_those_of_the_packets(outcome: Outcome) -> None:
    hops = {hop.receiver: hop for hop in outcome.run.results.hops}
    for stream in LINK.streams:
        hop, found = hops[f"take_{stream.name}"], outcome.of(stream.name)
        assert hop.between == "hosts"
        error_ns = hop.error_ms * 1e6 + SEEN_LATER_NS
        for each in found:
            assert each.first >= each.sent - SEEN_LATER_NS
            assert each.last <= each.sender_end + SEEN_LATER_NS
            assert each.end >= each.left - error_ns
        assert 0 < hop.messages <= len(found)
        chain = outcome.run.results.chain(stream.name)
        assert chain is not None
        # Every message that was sent before the end is found among the packets.
        sent = {row.tokens for row in outcome.run.instance_rows() if row.callback == hop.sender}
        sent -= {f"{stream.name}:{chain.released + later}" for later in range(len(sent))}
        seen = {
            f"{stream.name}:{token.instance}"
            for message in messages_of(outcome.packets)
            for token in message.tokens
        }
        assert sent <= seen
        # After a queue was full, instances take later messages than those that made them ready.
        if chain.dropped == 0 and hop.messages == len(found):
            assert all(each.ready >= each.left - error_ns for each in found)
            longest_ms = max(each.ready - each.sent for each in found) / 1e6
            assert abs(hop.time.worst - longest_ms) <= hop.error_ms + 0.05


SATURATED = dataclasses.replace(
    LINK, streams=(Stream("points", 20_000, 30, 1), Stream("pose", 3000, 25, 2))
)


def test_a_saturated_link_has_an_unbounded_backlog_and_its_messages_wait_ever_longer(
    rclrt: Rclrt, tmp_path: Path
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(SATURATED.yaml())
    answer = rclrt("analyze", app, "--json", "--no-search", "--dispatch-us", "0")
    assert answer.code == 1
    forth = answer.json["links"][0]
    assert "unbounded backlog" in forth["note"]
    assert forth["delay_ms"] is None
    assert forth["load"] > 1.5
    assert answer.json["chains"][0]["bound_ms"] is None
    saturated = outcome_of(SATURATED, tmp_path, 3)
    assert saturated.bound_ns is None
    assert saturated.bound_of_run_ns is None
    points = SATURATED.streams[0]
    sent = [each for each in messages_of(saturated.packets) if each.sender == 0]
    assert len(sent) > 1
    begin = sent[0].sent
    for number, each in enumerate(sent):
        # All messages before it took the link, too, which brings no more than its rate.
        brought = (number + 1) * points.bytes - SATURATED.burst_bytes
        left = saturated.packets[each.packets[-1]].left
        assert left - begin >= brought * 8e6 / SATURATED.rate_kbit - SEEN_LATER_NS
        if each.tokens[0].instance == number:  # until the socket is full: then releases are lost
            least_ns = brought * 8e6 / SATURATED.rate_kbit - number * points.period_ns
            assert left - each.tokens[0].release >= least_ns - SEEN_LATER_NS


def test_the_bounds_of_the_run_are_in_its_results(outcome: Outcome) -> None:
    results = json.loads((outcome.run.directory / "results.json").read_text())
    for chain in results["chains"]:
        assert round(chain["bound_ms"] * 1e6) == outcome.chain_bounds_ns[chain["id"]]
    assert Run.load(outcome.run.directory).results.executor == EXECUTOR
