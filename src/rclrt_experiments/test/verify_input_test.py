# SPDX-License-Identifier: Apache-2.0
"""`rclrt verify` with wrong options, and with nothing to verify."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from rclrt_experiments.generator.rules import Rules
from rclrt_experiments.verification.live import run_live
from rclrt_py.testing.command import finished

EXAMPLE = Path(__file__).parents[3] / "examples/fig_5_4/app.yaml"


def verify(*arguments: str) -> subprocess.CompletedProcess[str]:
    return finished("verify", *arguments)


def test_without_a_feasible_application_nothing_is_verified(
    capsys: pytest.CaptureFixture[str],
) -> None:
    too_much = '{"util_total": 1.5, "chain_count": 4}'
    for options in ((), ("--json",), ("--run", "1")):
        done = verify("--rules-data", too_much, "--count", "2", *options)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "rclrt: nothing was verified, because no application is feasible" in done.stderr
    assert run_live(Rules(), False, 1, [], 1, "preemptive", 1.0, None, {}) == 1
    assert "rclrt: --run: no application ran" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--jobs", "2", "--scheduler", "tcp://x"), "--scheduler and --jobs: both state where"),
        (("--executors", "fifo"), "unknown executor 'fifo'"),
        (("--executors", "static_order:trigger=all"), "no bounds are offered for a trigger"),
        (("--count", "0"), "'0' is no count; expected a whole number from 1 on"),
        (("--rules-data", '{"x": 1}'), "--rules-data: 'x' is no rule"),
        (
            (str(EXAMPLE),),
            "this is an app.yaml, which describes an application, for `rclrt analyze FILE`; "
            'expected a file of rules, such as {"chain_count": 3}',
        ),
        (("-o", os.curdir), "is not empty; name a new directory, or empty this one"),
        (("--seconds", "-1"), "'-1' is no number of seconds"),
        (("--workload-time", "max"), "add --workloads FILE"),
        (("--cpus", "17"), "--cpus: '17' is no number of CPUs for several; expected 2 to 16"),
        (("--cpus", "1"), "--cpus: '1' is no number of CPUs for several; expected 2 to 16"),
        (("--seconds", "1"), "--seconds: has an effect only on runs on ROS 2; add --run N"),
        (("--overheads", "none"), "--overheads: has an effect only on runs on ROS 2; add --run N"),
        (("--cpus", "2", "--preset", "drone"), "--cpus: the rules state the CPUs"),
        (("--json", "--run", "1"), "--json: expected no --run with it"),
        (("--back-and-forth", "--cpus", "2"), "--back-and-forth: expected no rules, no --cpus"),
    ],
)
def test_bad_input_is_named(arguments: tuple[str, ...], said: str) -> None:
    done = verify(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
