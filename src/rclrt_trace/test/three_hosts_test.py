# SPDX-License-Identifier: Apache-2.0
"""Traces of three hosts become one result."""

from __future__ import annotations

from pathlib import Path

from host_traces import MS, SECOND, HostClock, HostTrace, Robot
from joined_results import LEFT_BOOT, RIGHT_BOOT, imported

THIRD_BOOT = "bbbbbbbb-cccc-dddd-eeee-ffffffffffff"
WRONG = HostClock(offset_ns=12_345 * SECOND, drift_ppm=37.0, since_ns=SECOND)
PERIOD_NS = 10 * MS
US = 1000


def exchange(sender: Robot, receiver: Robot, number: int, delay_ns: int) -> None:
    """Adds a timer and its subscriber on another host, with messages of one delay."""
    sender.publisher(number, 5, f"/t{number}")
    receiver.subscription(number + 2, 5, f"/t{number}", number + 2)
    sender.timer(number + 1, 5, PERIOD_NS, number + 1)
    for i in range(200):
        sent = SECOND + (i + 1) * PERIOD_NS + number * 20 * US
        sender.thread, receiver.thread = number, number + 1
        sender.run(number + 1, sent - 10 * US, sent, number, sent + number)
        receiver.take(number + 2, sent + delay_ns, sent + number)
        receiver.run(number + 2, sent + delay_ns, sent + delay_ns + 10 * US)


def three_hosts(tmp_path: Path, delays: list[tuple[int, int, int]]) -> list[Path]:
    """Writes the traces of three hosts. A delay is that of messages from a host to another one."""
    traces = [
        HostTrace("left", LEFT_BOOT),
        HostTrace("right", RIGHT_BOOT, WRONG),
        HostTrace("third", THIRD_BOOT, HostClock(offset_ns=5 * SECOND, drift_ppm=-20.0)),
    ]
    robots = [Robot(trace) for trace in traces]
    for robot in robots:
        robot.node(5, f"{robot.trace.name}_node")
    for number, (sender, receiver, delay_ns) in enumerate(delays, 1):
        exchange(robots[sender], robots[receiver], 10 * number, delay_ns)
    return [trace.save(tmp_path / trace.name) for trace in traces]


def test_a_third_host_joins_through_the_second(tmp_path: Path) -> None:
    delays = [(0, 1, 200 * US), (1, 0, 200 * US), (1, 2, 150 * US), (2, 1, 150 * US)]
    results, _, said = imported(tmp_path, three_hosts(tmp_path, delays))
    assert [host["compared_with"] for host in results["hosts"]] == [None, "left", "right"]
    assert results["hosts"][2]["least_error_ms"] > results["hosts"][1]["least_error_ms"]
    assert "not followed" not in said


def test_messages_of_hosts_that_are_compared_through_another_one_may_not_be_followed(
    tmp_path: Path,
) -> None:
    delays = [(0, 1, 50 * US), (1, 0, 2050 * US), (0, 2, 300 * US), (2, 0, 300 * US)]
    results, _, said = imported(tmp_path, three_hosts(tmp_path, [*delays, (1, 2, 100 * US)]))
    # The clock of right is known to ±1.05 ms, and its middle is wrong by 1 ms.
    assert [host["compared_with"] for host in results["hosts"]] == [None, "left", "left"]
    assert "200 messages from 'right' to 'third' are not followed: the clocks of these two" in said
    assert "is not measured, because messages between its hosts are not followed" in said
    assert not any("t50" in chain["callbacks"][-1] for chain in results["chains"])
    assert any("t40" in chain["callbacks"][-1] for chain in results["chains"])
