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
from rclrt_py.testing.command import Rclrt
from rclrt_py.testing.namespaces import permitted_or_skipped
from rclrt_py.testing.shaped_link import EXECUTOR, Outcome, ShapedLink, Stream, run_over

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


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    with permitted_or_skipped():
        return run_over(LINK, tmp_path_factory.mktemp("link"), 5)


def test_the_kernels_shaper_is_the_token_bucket_of_the_model(outcome: Outcome) -> None:
    late = [
        packet.left - computed
        for packet, computed in zip(outcome.packets, outcome.computed, strict=True)
    ]
    assert min(late) > -SEEN_LATER_NS  # it never sends before it has the tokens
    waited = [each for each in outcome.passages if each.computed_delay > 1_000_000]
    assert waited
    assert min(each.shaper_late for each in waited) < 1_000_000  # and soon after that


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


def test_a_delay_above_the_proved_bound_is_explained(outcome: Outcome) -> None:
    assert outcome.bound_ns is not None
    assert outcome.bound_of_run_ns is not None
    keeps_the_model = outcome.bound_of_run_ns <= outcome.bound_ns
    assert all(outcome.of(stream.name) for stream in LINK.streams)
    for each in outcome.passages:
        if keeps_the_model:
            assert each.computed_delay <= outcome.bound_ns
            assert each.link_delay <= outcome.bound_ns + max(0, each.shaper_late)


def test_a_response_above_the_proved_bound_is_explained(outcome: Outcome) -> None:
    for each in outcome.passages:
        late = outcome.parts_late_ns(each)
        assert each.response <= outcome.chain_bounds_ns[each.stream] + sum(late.values())
        if late["queue"] > 0:  # the messages before it came closer than the model states
            assert outcome.bound_of_run_ns is not None
            assert each.computed_delay <= outcome.bound_of_run_ns


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
            assert each.end >= each.left - error_ns
        assert 0 < hop.messages <= len(found)
        chain = outcome.run.results.chain(stream.name)
        assert chain is not None
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
    with permitted_or_skipped():
        saturated = run_over(SATURATED, tmp_path, 3)
    seen = saturated.of("points")
    waited = [each.computed - each.release for each in seen]
    assert waited[-1] > 2 * waited[0]
    assert saturated.bound_ns is None
    assert saturated.bound_of_run_ns is None


def test_the_bounds_of_the_run_are_in_its_results(outcome: Outcome) -> None:
    results = json.loads((outcome.run.directory / "results.json").read_text())
    for chain in results["chains"]:
        assert round(chain["bound_ms"] * 1e6) == outcome.chain_bounds_ns[chain["id"]]
    assert Run.load(outcome.run.directory).results.executor == EXECUTOR
