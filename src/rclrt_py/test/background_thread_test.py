# SPDX-License-Identifier: Apache-2.0
"""A thread that ends with its `with` block."""

from __future__ import annotations

import pytest
from rclrt_py.processes.background_thread import BackgroundThread


class Recorder(BackgroundThread):
    def __init__(self) -> None:
        super().__init__("recorder")
        self.seen: list[str] = []

    def _run(self) -> None:
        self._ended.wait()
        self.seen.append(self._thread.name)

    def _after_end(self) -> None:
        self.seen.append("running" if self._thread.is_alive() else "ended")


def test_the_end_of_the_block_waits_for_the_thread() -> None:
    with Recorder() as recorder:
        assert recorder.seen == []
    assert recorder.seen == ["recorder", "ended"]


def test_an_error_in_the_block_ends_the_thread_and_is_passed_on() -> None:
    recorder = Recorder()
    with pytest.raises(ValueError, match="mine"), recorder:
        raise ValueError("mine")
    assert recorder.seen == ["recorder", "ended"]
