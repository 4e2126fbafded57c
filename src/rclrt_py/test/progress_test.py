# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io

from rclrt_py.terminal.progress import BAR_WIDTH, Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def screen(stream: io.StringIO) -> list[str]:
    """Returns the lines that a terminal would show."""
    lines = []
    for line in stream.getvalue().split("\n"):
        cells: list[str] = []
        for part in line.split("\r"):
            cells[: len(part)] = part
        lines.append("".join(cells).rstrip())
    return lines


def test_the_bar_is_as_full_as_the_work_is_done() -> None:
    stream = Terminal()
    progress = Progress(stream, total_s=8.0)
    progress.step("round 1/2  preemptive", 4.0)
    progress.tick(2.0)
    (line,) = screen(stream)
    assert line.count("█") == BAR_WIDTH // 4
    assert "2.0 of 8.0 s" in line


def test_a_step_that_takes_longer_does_not_count_more_than_its_share() -> None:
    stream = Terminal()
    progress = Progress(stream, total_s=8.0)
    progress.step("first", 4.0)
    progress.tick(60.0)
    (line,) = screen(stream)
    assert line.count("█") == BAR_WIDTH // 2


def test_finished_steps_stay_as_lines_and_the_bar_goes() -> None:
    stream = Terminal()
    progress = Progress(stream, total_s=2.0)
    progress.step("first", 1.0)
    progress.tick(0.5)
    progress.finished("obstacle missed 0 of 20")
    progress.step("second", 1.0)
    progress.clear()
    assert screen(stream) == ["first  obstacle missed 0 of 20", ""]


def test_without_a_terminal_there_is_no_bar() -> None:
    stream = io.StringIO()
    progress = Progress(stream, total_s=2.0)
    assert not progress.live
    progress.step("first", 1.0)
    progress.finished("done")
    assert stream.getvalue() == "first  done\n"
