# SPDX-License-Identifier: Apache-2.0
"""Ages of data of another host, with the real `rclrt clock` on both: network namespaces, and a
clock that is 40 ms wrong."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.processes.runner import find_program
from rclrt_py.testing.namespaces import HOSTS, TwoHosts, lines_until, program_on, two_hosts

LEFT, RIGHT = HOSTS
PROGRAM = os.environ["HOSTS"]
OFFSET = "offset_ms=40"
INSTANCES = 10_000
LIMIT_S = 400.0
"""Only a test that hangs takes as long."""


@pytest.fixture(scope="module")
def clock() -> str:
    try:
        return str(find_program(os.environ, "rclrt_clock", "rclrt_clock"))
    except BadInput as missing:
        pytest.skip(f"rclrt_clock is not built: {missing}")


@pytest.fixture(scope="module")
def hosts() -> Iterator[TwoHosts]:
    with two_hosts() as made:
        yield made


@contextmanager
def clocks_and_data(hosts: TwoHosts, clock: str, period_us: int) -> Iterator[None]:
    """Runs `rclrt clock` on both hosts, and a node on `right` that publishes what it stamps."""
    with ExitStack() as stack:
        start = stack.enter_context
        ping = [clock, "--period", "50"]
        devnull = ["sh", "-c", 'exec "$@" >/dev/null', "sh"]
        start(program_on(hosts, RIGHT, [*devnull, *ping], LIMIT_S, RCLRT_TEST_CLOCK=OFFSET))
        start(program_on(hosts, LEFT, [*devnull, *ping], LIMIT_S))
        publisher = [PROGRAM, "publish", str(period_us)]
        start(program_on(hosts, RIGHT, publisher, LIMIT_S, RCLRT_TEST_CLOCK=OFFSET))
        yield


def test_every_age_contains_the_truth_and_no_deadline_is_met_on_a_guess(
    hosts: TwoHosts, clock: str
) -> None:
    """Each instance is judged with deadlines at the truth, in the interval and at its ends."""
    with (
        clocks_and_data(hosts, clock, 2_000),
        program_on(hosts, LEFT, [PROGRAM, "judge"], LIMIT_S) as judge,
    ):
        last = lines_until(judge, lambda line: line["known"] >= INSTANCES)[-1]
    assert last["outside"] == 0
    assert last["wrong_verdicts"] == 0
    assert last["met_on_a_guess"] == 0
    assert last["known"] > last["judged"] / 2
    # The offset is corrected: with 40 ms in them, the intervals would not say anything.
    assert last["widest_ms"] < 40


def test_the_monitor_reports_ages_of_another_host_with_a_wrong_clock(
    hosts: TwoHosts, clock: str, tmp_path: Path
) -> None:
    robot = tmp_path / "robot.yaml"
    robot.write_text(
        "rclrt: 1\ncallbacks:\n"
        "  - {node: /node, subscription: /points, max_age_ms: 10000, stamped_by: right}\n"
        "monitor: {period_ms: 200}\n"
    )
    with (
        clocks_and_data(hosts, clock, 5_000),
        program_on(hosts, LEFT, [PROGRAM, "monitor", str(robot)], LIMIT_S) as monitor,
    ):
        lines = lines_until(monitor, lambda line: int(line["met"]) >= 2_000)
    last = lines[-1]
    assert int(last["missed"]) == 0
    assert int(last["future"]) == 0
    assert float(last["offset_low_ms"]) <= 40 <= float(last["offset_high_ms"])
    ages = [line for line in lines if "max_low_ms" in line]
    assert ages
    for line in ages:
        assert 0 <= float(line["p50_low_ms"]) <= float(line["p50_high_ms"])
        assert float(line["p50_low_ms"]) < 40, "the offset is not part of the age"
        assert re.match(r"\d+ of \d+ met, 0 missed, \d+ unknown", line["message"])
