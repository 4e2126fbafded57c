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
            "scan on left ended 2.500 ms after it was ready; the bound up to there is 2.000 ms",
        ),
        (
            [(0.5, 1.5), (10.0, 10.5), (11.0, 20.0)],
            "scan on left ended in time, 1.500 ms after the release; the message over the link "
            "made plan on right ready 8.500 ms later, and it ended after 0.500 ms more; the bound "
            "up to there is 9.000 ms",
        ),
        (
            [(0.5, 1.5), (5.0, 6.0), (6.5, 20.0)],
            "plan on right ended in time, 6.000 ms after the release; the message made brake on "
            "right ready 0.500 ms later, and it ended after 13.500 ms more; the bound up to there "
            "is 12.000 ms",
        ),
        (
            [(0.5, 1.5)],
            "scan on left ended in time, 1.500 ms after the release; no run of plan on right took "
            "its message",
        ),
        ([], "no run of scan on left took its message"),
        ([(0.5, 1.5), (5.0, 6.0), (6.5, 11.0)], ""),
    ],
)
def test_the_first_part_that_was_late_is_stated(
    times_ms: list[tuple[float, float]], place: str
) -> None:
    assert place_of(rows(*times_ms)) == place
    assert place in str(with_places([excess()], rows(*times_ms), [CHAIN], HOSTS)[0])


def test_runs_of_other_instances_do_not_count() -> None:
    late = rows((0.5, 3.0), tokens="drive:8;drive:77")
    assert place_of(late) == "no run of scan on left took its message"


def test_excesses_with_a_cause_and_chains_on_one_host_stay_as_they_are() -> None:
    late = rows((0.5, 3.0))
    known = [excess(HOST), excess(what="an executor's thread waited")]
    assert with_places(known, late, [CHAIN], HOSTS) == known
    on_one = dict.fromkeys(CHAIN.callbacks, "left")
    assert with_places([excess()], late, [CHAIN], on_one) == [excess()]
    assert with_places([excess()], late, [CHAIN], {}) == [excess()]
