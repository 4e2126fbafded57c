# SPDX-License-Identifier: Apache-2.0
"""From a trace of a MultiThreadedExecutor to the callbacks that starved, and to those that can."""

from __future__ import annotations

import json
import re
from pathlib import Path

from rclcpp_traces import RclcppTrace
from traced_runs import rclrt

import rclrt_model

SECONDS = 20


def starving(milliseconds: int = 1000) -> RclcppTrace:
    """Returns example 4 of Teper et al., EMSOFT 2024: timer 2 never runs.

    Timers 1 and 2 share a group, in which timer 1 runs for `milliseconds` of each second, and
    0.05 ms longer. Between two runs the executor needs 0.05 ms.
    """
    trace = RclcppTrace()
    trace.node(1, "n")
    for timer in (1, 2, 3):
        trace.timer(timer, 1, 1000)
    for second in range(1, SECONDS):
        begin = 1000 + (second - 1) * 1000.1
        one = second % 2
        trace.run(one, 1, begin, begin + milliseconds + 0.05)
        trace.run(1 - one, 3, begin, begin + 500)
        if milliseconds < 600:
            trace.run(one, 2, begin + milliseconds + 0.1, begin + milliseconds + 300)
    return trace


def model_of(trace: Path, file: Path) -> tuple[str, str]:
    """Returns standard output and standard error."""
    done = rclrt("model", trace, "-o", file)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_a_trace_shows_what_starved_and_its_model_what_can(tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    starving().save(tmp_path / "trace")
    printed, said = model_of(tmp_path / "trace", file)
    assert re.search(
        r"note: callback 'n_timer_2' starved: due 1\.\d{3} s after the first run, it had not begun "
        r"18\.\d{3} s later \(1[78] of its periods\); meanwhile 'n_timer_1' of its group began ",
        said,
    ), said
    assert printed.splitlines()[-2] == f"rclrt plan {file} --executor wait_set:threads=2"
    assert printed.splitlines()[-1] == f"rclrt analyze {file} --executor wait_set:threads=2"
    application = rclrt_model.load(file)
    assert [callback.id for callback in application.callbacks] == [
        "n_timer_1", "n_timer_2", "n_timer_3",
    ]  # fmt: skip
    assert list(application.executors[0].cpus) == [0, 1]
    done = rclrt("analyze", file, "--executor", "wait_set:threads=2", "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    chains = {chain["id"]: chain for chain in json.loads(done.stdout)["chains"]}
    assert chains["n_timer_2"]["verdict"] == "refuted"
    assert chains["n_timer_2"]["note"].startswith("may never run: 'n_timer_2' waits in simulation")


def test_the_results_of_a_trace_have_a_callback_that_never_ran(tmp_path: Path) -> None:
    starving().save(tmp_path / "trace")
    done = rclrt("trace", "import", tmp_path / "trace", "--out", tmp_path / "results")
    assert done.returncode == 0, done.stderr
    assert "callback 'n_timer_2' starved" in done.stderr
    assert "n_timer_2" in done.stdout
    assert (tmp_path / "results" / "report.html").is_file()


def test_a_group_that_is_idle_now_and_then_starves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    starving(500).save(tmp_path / "trace")
    _, said = model_of(tmp_path / "trace", file)
    assert "starved" not in said
    done = rclrt("analyze", file, "--executor", "wait_set:threads=2", "--json")
    assert "may never run" not in done.stdout


def test_the_part_of_a_trace_that_is_cut_off_shows_no_wait(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    made = starving(500)  # timer 2 runs, on the CPU of which the file is cut off
    made.save(trace, packet_events=4)
    whole = (trace / "stream_0").read_bytes()
    (trace / "stream_0").write_bytes(whole[: len(whole) // 3])
    _, said = model_of(trace, tmp_path / "app.yaml")
    assert "the file is cut off in it" in said
    assert "starved" not in said
    assert "did not run any more" not in said
