# SPDX-License-Identifier: Apache-2.0
"""Where a chain over two hosts was late: at the sender, the message, or the receiver."""

from __future__ import annotations

import pytest
from rclrt_py.bounds.excesses import HOST, UNEXPLAINED, Excess
from rclrt_py.bounds.over_hosts import with_places
from rclrt_py.bounds.predicted import PredictedChain
from rclrt_py.runs.csv_reader import InstanceRow

MS = 1_000_000
CHAIN = PredictedChain(
    *("drive", 12.0, "proved", (), 1, (), ""), ("scan", "plan", "brake"), (2.0, 9.0, 12.0)
)
HOSTS = {"scan": "left", "plan": "right", "brake": "right"}
RELEASE = 100 * MS


def excess(cause: str = UNEXPLAINED, what: str = "", instance: int = 7) -> Excess:
    times = (RELEASE, 20 * MS, 12 * MS, RELEASE, 0, 0, None)
    return Excess("drive", instance, *times, cause, what)


def rows(*times_ms: tuple[float, float], tokens: str = "other:7;drive:7") -> list[InstanceRow]:
    """Returns the runs of the chain's callbacks: ready and end, since the release."""
    result = []
    for number, (callback, each) in enumerate(zip(CHAIN.callbacks, times_ms, strict=False)):
        ready, end = (RELEASE + round(time * MS) for time in each)
        result.append(
            InstanceRow(number, callback, 1, "t", ready, ready, ready, end, 0, 0, "ran", tokens)
        )
    return result


def place_of(found: list[InstanceRow]) -> str:
    (only,) = with_places([excess()], found, [CHAIN], HOSTS)
    assert only.cause == UNEXPLAINED
    return only.what


@pytest.mark.parametrize(
    ("times_ms", "place"),
    [
        (
            [(0.5, 3.0), (4.0, 5.0), (5.5, 20.0)],
            "scan on left was ready 0.500 ms after the release, and ended at 3.000 ms; the bound "
            "up to there is 2.000 ms",
        ),
        (
            [(0.5, 1.5), (10.0, 10.5), (11.0, 20.0)],
            "scan on left ended in time, 1.500 ms after the release; by the message over the link, "
            "plan on right was ready 10.000 ms after the release, and ended at 10.500 ms; the "
            "bound up to there is 9.000 ms",
        ),
        (
            [(0.5, 1.5), (5.0, 6.0), (6.5, 20.0)],
            "plan on right ended in time, 6.000 ms after the release; by the message, brake on "
            "right was ready 6.500 ms after the release, and ended at 20.000 ms; the bound up to "
            "there is 12.000 ms",
        ),
        (
            [(0.5, 1.5)],
            "scan on left ended in time, 1.500 ms after the release; no run of plan on right took "
            "its message",
        ),
        ([], "scan on left has no recorded run"),
        ([(0.5, 1.5), (5.0, 6.0), (6.5, 11.0)], ""),
    ],
)
def test_the_first_part_that_was_late_is_stated(
    times_ms: list[tuple[float, float]], place: str
) -> None:
    assert place_of(rows(*times_ms)) == place
    assert place in str(with_places([excess()], rows(*times_ms), [CHAIN], HOSTS)[0])


def test_the_error_of_the_clocks_is_stated_and_no_time_is_negative() -> None:
    late = rows((0.5, 1.5), (-0.3, 10.0))
    late[1] = late[1]._replace(error=200_000)
    assert "ready 0.000 ms after the release, and ended at 10.000 ms (±0.200)" in place_of(late)


def test_runs_of_other_instances_do_not_count() -> None:
    late = rows((0.5, 3.0), tokens="drive:8;drive:77")
    assert place_of(late) == "scan on left has no recorded run"


def test_excesses_with_a_cause_and_chains_on_one_host_stay_as_they_are() -> None:
    late = rows((0.5, 3.0))
    known = [excess(HOST), excess(what="an executor's thread waited")]
    assert with_places(known, late, [CHAIN], HOSTS) == known
    on_one = dict.fromkeys(CHAIN.callbacks, "left")
    assert with_places([excess()], late, [CHAIN], on_one) == [excess()]
    assert with_places([excess()], late, [CHAIN], {}) == [excess()]
