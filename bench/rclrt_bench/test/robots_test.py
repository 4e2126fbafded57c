# SPDX-License-Identifier: Apache-2.0
"""The evaluation of recorded times in the measurements of other people's robots."""

import random
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2]
sys.path.insert(0, str(BENCH))

from callback_isolated import config_of  # noqa: E402
from publish_nav2 import PERIOD_NS as COMMAND_NS  # noqa: E402
from publish_nav2 import commands_of  # noqa: E402
from publish_reference_system import samples_of  # noqa: E402
from publish_ros2_control import PERIOD_NS, cycles_of  # noqa: E402
from robots import arguments_of, first_release  # noqa: E402

PHASE = 123_456


def late_reads(lateness: list[int]) -> list[int]:
    return [n * PERIOD_NS + PHASE + late for n, late in enumerate(lateness)]


def test_the_earliest_of_most_reads_is_the_release() -> None:
    draw = random.Random(1)
    for phase in (
        0,
        PHASE,
        PERIOD_NS - 10_000,
    ):  # the last ones are on both sides of the end of a period
        reads = [n * PERIOD_NS + phase + draw.randrange(5_000, 40_000) for n in range(2000)]
        reads[7] = 7 * PERIOD_NS + phase + 5_000
        assert first_release(reads, PERIOD_NS, 50_000) == (phase + 5_000) % PERIOD_NS


def test_a_smaller_cluster_of_late_reads_moves_nothing() -> None:
    reads = late_reads([10_000] * 600 + [400_000] * 400)
    assert first_release(reads, PERIOD_NS, 50_000) == PHASE + 10_000


def test_what_is_always_late_is_not_seen() -> None:
    """Finds the release from the reads: it is not known from outside, see bench/README.md."""
    assert first_release(late_reads([300_000] * 100), PERIOD_NS, 50_000) == PHASE + 300_000


def test_cycles_are_late_missed_and_apart(tmp_path: Path) -> None:
    lateness = [0] * 100
    lateness[50] = 700_000  # late
    lateness[60] = 1_200_000  # misses its release, and counts for the next one
    lines = []
    for number, read in enumerate(late_reads(lateness)):
        if number != 61:
            lines += [f"read {read}", f"write {read + 100_000} 0.5"]
    probe = tmp_path / "probe"
    probe.write_text("\n".join(lines) + "\n")
    found = cycles_of(probe, 10 * PERIOD_NS, 90 * PERIOD_NS)
    assert found["missed"] == 1
    assert found["late_ns"][-2:] == [700_000, 1_200_000]
    assert found["late_ns"][-3] == 200_000  # also for the release of the late cycle
    assert found["gap_ms"] == 2.2


def test_periods_without_a_command_are_counted() -> None:
    arrivals = [n * COMMAND_NS + PHASE for n in range(100) if n not in (40, 41)]
    found = commands_of(arrivals, COMMAND_NS, 99 * COMMAND_NS)
    assert found["missed"] == 2
    assert found["late_ns"][-1] == 2 * COMMAND_NS
    assert found["gap_ms"] == 60


def test_arguments() -> None:
    assert arguments_of([], 5, 20) == (False, 5, 20)
    assert arguments_of(["--print", "1", "2"], 5, 20) == (True, 1, 2)


def test_the_reference_systems_samples_are_those_of_its_sink() -> None:
    rule = "-" * 58 + "\n"

    def block(node: str, hot_path_ms: float) -> str:
        return (
            f"{rule}sample path: ({node}) \n\nStatistics:\n  latency:   300.1ms [min=1ms]\n"
            "  hot path:                 FrontLidarDriver -> ObjectCollisionEstimator\n"
            f"  hot path latency:         {hot_path_ms}ms [min=20ms, max=76ms]\n"
            "  hot path drops:           3 [min=0, max=5]\n"
            f"  behavior planner period:  93.9ms [min=80ms, max=118ms]\n{rule}\n"
        )

    text = block("VehicleDBWSystem", 56.5) + block("IntersectionOutput", 9.5)
    cut_short = block("VehicleDBWSystem", 1.5).split("  behavior")[0]
    assert samples_of(text + cut_short) == [{"hot_path_ms": 56.5, "drops": 3, "period_ms": 93.9}]


def test_callback_isolated_gets_the_priority_of_each_groups_node() -> None:
    template = (
        "callback_groups:\n"
        "  - id: /Planner@Subscription(/a)@Timer(100000000)\n"
        "    affinity: ~\n    policy: SCHED_OTHER\n    priority: 0\n\n"
        "  - id: /client_node1@Subscription(/b)\n"
        "    affinity: ~\n    policy: SCHED_OTHER\n    priority: 0\n\n"
    )
    planner = template.index("SCHED_OTHER")
    assert config_of(template, {"Planner": 93, "Other": 91}) == (
        template[:planner]
        + template[planner:].replace("OTHER\n    priority: 0", "FIFO\n    priority: 93", 1)
    )
