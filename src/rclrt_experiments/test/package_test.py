# SPDX-License-Identifier: Apache-2.0
"""Generated packages build without a warning, and their programs run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from rclrt_experiments.generator.application import draw_application
from rclrt_experiments.generator.package import package_files
from rclrt_experiments.generator.rules import PRESETS
from rclrt_py.testing.command import command
from rclrt_py.testing.waiting import GENEROUS_S, wait_for

RULES = {
    "name": "Package_test", "chain_count": 3, "chain_avg_len": 5, "chain_merge_p": 0.1,
    "chain_sync_p": 0.2, "executor_count": 4, "util_total": 0.2, "min_period_us": 50000,
    "max_period_us": 100000, "period_step_us": 50000, "group_p": 0.3, "max_message_bytes": 3000,
    "offsets": "random", "logging_mode": 2, "random_seed": 21, "event_p": 0.3,
    "max_event_interval": 2, "service_p": 0.7,
}  # fmt: skip
PROGRAMS = [f"executor{number}" for number in range(4)]


def has_rclcpp() -> bool:
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return any((Path(prefix) / "share/rclcpp/package.xml").is_file() for prefix in prefixes)


def done(*command: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True, text=True, timeout=GENEROUS_S, check=False, env={**os.environ, **more},
    )  # fmt: skip


def rclrt(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return done(*command(*arguments))


@pytest.fixture(
    scope="module",
    params=[
        "rclrt",
        pytest.param(
            "rclcpp", marks=pytest.mark.skipif(not has_rclcpp(), reason="there is no rclcpp")
        ),
    ],
)
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generates a package, and builds it in `build`."""
    package = tmp_path_factory.mktemp("package") / "made"
    rules = json.dumps(RULES)
    made = rclrt("generate", "--rules-data", rules, "--client", request.param, "-o", package)
    assert made.returncode == 0, made.stderr
    configured = done(
        *("cmake", "-S", package, "-B", package / "build", "-G", "Ninja"),
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -O0",
        "-DCMAKE_BUILD_TYPE=None",
    )
    assert configured.returncode == 0, configured.stderr
    built = done("ninja", "-C", package / "build")
    assert built.returncode == 0, built.stdout
    return package


def test_four_executors_run_as_four_processes_and_every_chain_is_complete(package: Path) -> None:
    log = package / "chain.log"
    running = [
        subprocess.Popen([package / "build" / name], env={**os.environ, "CHAIN_LOG": str(log)})
        for name in PROGRAMS
    ]
    chains = json.loads((package / "chains.json").read_text())

    def seen() -> set[str]:
        text = log.read_text() if log.exists() else ""
        return {number for number in "012" if f"chain: {number}, " in text}

    def is_running() -> bool:
        return all(process.poll() is None for process in running)

    wait_for(lambda: len(seen()) == len(chains) or not is_running())
    assert is_running()
    for process in running:
        process.send_signal(signal.SIGINT)
    assert [process.wait(GENEROUS_S) for process in running] == [0] * len(PROGRAMS)
    rows = rclrt("postprocess", log, "--chains", package / "chains.json", "--no-header")
    assert rows.returncode == 0, rows.stderr
    assert "none" not in rows.stdout
    for row in (line.split(",") for line in rows.stdout.splitlines()):
        best, worst, mean = (float(cell) for cell in row[5:8])
        assert 0 < best <= mean <= worst


def test_the_package_has_what_colcon_needs(package: Path) -> None:
    assert "<name>package_test</name>" in (package / "package.xml").read_text()
    launch = package / "launch" / "package_test.launch.py"
    compile(launch.read_text(), launch, "exec")
    assert all(f'executable="{name}"' in launch.read_text() for name in PROGRAMS)
    installed = done("cmake", "--install", package / "build", "--prefix", package / "installed")
    assert installed.returncode == 0, installed.stderr
    programs = {path.name for path in (package / "installed/lib/package_test").iterdir()}
    assert programs == set(PROGRAMS)
    assert (package / "installed/share/package_test/launch").is_dir()


def test_programs_of_timers_alone_define_nothing_that_they_do_not_use() -> None:
    rules = replace(PRESETS["default"], executor_count=4, chain_avg_len=Decimal(2))
    alone = 0
    for seed in range(10):
        application = draw_application(replace(rules, random_seed=seed))
        for name, text in package_files(application, {}, "rclcpp"):
            if name.endswith(".cpp"):
                alone += "create_subscription" not in text
                assert ("in_group(" in text) == ("create_subscription" in text)
    assert alone > 0


def test_a_client_without_a_directory_is_refused() -> None:
    refused = rclrt("generate", "--preset", "drone", "--client", "rclrt")
    assert refused.returncode == 2
    assert "--client makes a package in a directory; add -o DIR" in refused.stderr


def test_a_package_of_several_picas_executors_is_refused(tmp_path: Path) -> None:
    rules = json.dumps({**RULES, "executor": "picas", "executor_count": 2})
    into = tmp_path / "made"
    refused = rclrt("generate", "--rules-data", rules, "--client", "rclrt", "-o", into)
    assert refused.returncode == 2
    assert "a package cannot have several picas executors" in refused.stderr
    assert "fix: executor_count: 1" in refused.stderr
    assert not into.exists()
