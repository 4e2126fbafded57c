# SPDX-License-Identifier: Apache-2.0
"""When a chain is released, as a text: what its app.yaml states."""

from __future__ import annotations

import pytest
from rclrt_py.runs.event_times import EventTimes, release_text


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (None, "every 50 ms"),
        (EventTimes(20, 20), "every 20 ms"),
        (EventTimes(20, 500), "20 to 500 ms apart"),
        (EventTimes(33.333, 33.333, 33.333, 0), "every 33.333 ms"),
        (EventTimes(23.333, 43.333, 33.333, 10), "every 33.333 ms, up to 10 ms late"),
        (EventTimes(30, 43, 33, 10), "every 33 ms, up to 10 ms late, at least 30 ms apart"),
        (EventTimes(0.01, 21, 1, 20), "every 1 ms, up to 20 ms late, at least 0.01 ms apart"),
    ],
)
def test_releases_are_described_as_the_file_states_them(
    event: EventTimes | None, text: str
) -> None:
    assert release_text(50, event) == text
