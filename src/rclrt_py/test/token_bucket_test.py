# SPDX-License-Identifier: Apache-2.0
"""The departures of a token bucket, and the arrival curves that packets keep to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclrt_py.testing.token_bucket import (
    departures,
    largest_backlog_bytes,
    least_burst_bytes,
    least_jitter_ns,
)

US = 1_000
RATE = 8_000_000
"""Bits per second: a byte takes 1 µs."""
BURST = 1_500

sizes = st.integers(60, BURST)
gaps = st.integers(0, 3_000).map(lambda us: us * US)
arrivals = st.lists(st.tuples(gaps, sizes), min_size=1, max_size=25)


def summed(packets: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns arrivals in place of the gaps between them."""
    at, result = 0, []
    for gap, size in packets:
        at += gap
        result.append((at, size))
    return result


def test_tokens_of_the_burst_are_spent_first_and_then_the_rate_counts() -> None:
    found = departures([(0, 1000), (0, 1000), (0, 1000), (10_000 * US, 1500)], RATE, BURST)
    assert [each.at_ns for each in found] == [0, 500 * US, 1500 * US, 10_000 * US]
    assert [each.found_it_idle for each in found] == [True, False, False, True]


def test_a_packet_that_comes_while_another_waits_leaves_after_it() -> None:
    found = departures([(0, 1500), (0, 1500), (100 * US, 60)], RATE, BURST)
    assert [each.at_ns for each in found] == [0, 1500 * US, 1560 * US]


def test_a_packet_larger_than_the_burst_never_leaves() -> None:
    with pytest.raises(ValueError, match="1501 bytes"):
        departures([(0, 1501)], RATE, BURST)


def conforms(times: list[int], packets: list[tuple[int, int]]) -> bool:
    """Returns whether packets that leave then keep the rate and the burst, with a full bucket at
    the begin."""
    for first in range(len(times)):
        for last in range(first, len(times)):
            bits = 8 * sum(size for _, size in packets[first : last + 1])
            if bits * 10**9 > BURST * 8 * 10**9 + RATE * (times[last] - times[first]):
                return False
    return True


@given(arrivals)
def test_departures_keep_the_rate_and_none_could_be_earlier(found: list[tuple[int, int]]) -> None:
    packets = summed(found)
    times = [each.at_ns for each in departures(packets, RATE, BURST)]
    assert times == sorted(times)
    assert conforms(times, packets)
    for number, (arrived, _) in enumerate(packets):
        earlier = times[number] - 1
        if earlier < arrived or (number > 0 and earlier < times[number - 1]):
            continue
        assert not conforms([*times[:number], earlier], packets[: number + 1])


@given(st.lists(st.tuples(gaps, st.integers(0, 500 * US)), min_size=2, max_size=20))
def test_the_least_jitter_is_enough_and_no_less_is(found: list[tuple[int, int]]) -> None:
    period = 1_000 * US
    messages = [(at, at + more) for at, more in summed(found)]

    def is_kept(jitter: int) -> bool:
        for first in range(len(messages)):
            for last in range(first + 1, len(messages)):
                within = max(0, messages[last][0] - messages[first][1])
                if last - first > (within + jitter) // period:
                    return False
        return True

    least = least_jitter_ns(messages, period)
    assert is_kept(least)
    if 0 < least < period:  # with more, intervals of no length are counted as negative ones
        assert not is_kept(least - 1)


@given(arrivals)
def test_the_least_burst_is_enough_and_no_less_is(found: list[tuple[int, int]]) -> None:
    packets = summed(found)
    least = least_burst_bytes(packets, RATE)
    most = 0.0
    for first in range(len(packets)):
        for last in range(first, len(packets)):
            brought = sum(size for _, size in packets[first : last + 1])
            given_bytes = (packets[last][0] - packets[first][0]) / US
            most = max(most, brought - given_bytes)
    assert most <= least < most + 1


def test_the_backlog_counts_a_packet_until_it_has_left() -> None:
    assert largest_backlog_bytes([(0, 5, 100), (5, 9, 50), (6, 12, 10), (13, 13, 70)]) == 150
