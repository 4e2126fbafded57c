# SPDX-License-Identifier: Apache-2.0
"""The Python wheel in an empty virtual environment, without ROS and without the sources.

Needs scikit-build-core and tools/wheel. Without them the test is skipped; if CI is set, it fails.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml
from expected import APP, BOUNDS_MS
from installed import ROOT, SYSTEM_PATH, our_prefixes, ros_prefixes, run

BUILDER = ROOT / "tools/wheel"
NO_BUILD_BACKEND = "scikit-build-core is not in"
"""Error of tools/wheel without it; the exit code is 2."""

COMPILERS = {"libc", "libdl", "libgcc_s", "libm", "libpthread", "libstdc++"}
"""The only libraries that the wheel needs (wheel/README.md)."""

LOADED = """
import json, sys
import rclrt_analysis, rclrt_cli, rclrt_model, rclrt_py
with open("/proc/self/maps") as maps:
    paths = {line.split(maxsplit=5)[5].rstrip() for line in maps if "/" in line}
modules = [getattr(m, "__file__", None) for m in list(sys.modules.values())]
print(json.dumps(sorted(paths | {path for path in modules if path})))
"""

BOUNDS = """
import json, sys
import rclrt_analysis, rclrt_model
application = rclrt_model.load(sys.argv[1])
bounds = rclrt_analysis.chain_bounds(application)
print(json.dumps({c.id: [b.bound_ns, b.verdict] for c, b in zip(application.chains, bounds)}))
"""


def give_up(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"with CI set, the wheel must be tested: {reason}")
    pytest.skip(reason)


def build_wheel(directory: Path) -> Path:
    if not BUILDER.is_file():
        give_up("tools/wheel is not there: this package was taken out of rclrt's sources")
    answer = subprocess.run(
        [BUILDER, directory],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode == 2 and NO_BUILD_BACKEND in answer.stderr:
        give_up(answer.stderr.strip())
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (wheel,) = directory.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Installation:
    """A virtual environment that has only the wheel."""

    venv: Path
    outside: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": f"{self.venv / 'bin'}:{SYSTEM_PATH}", "HOME": str(self.outside / "home")}

    def run(self, *command: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        words = (self.venv / "bin" / str(command[0]), *command[1:])
        return run(*words, environment=self.environment, directory=self.work, code=code)

    @property
    def work(self) -> Path:
        return self.outside / "work"


@pytest.fixture(scope="module")
def installation(outside: Path) -> Installation:
    wheel = build_wheel(outside / "dist")
    venv = outside / "venv"
    without_ros = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME")}
    make = (sys.executable, "-m", "venv", "--without-pip", venv)
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        venv / "bin/python3",
    )
    install = (*pip, "install", "--quiet", "--no-index", "--no-deps", wheel)
    for command in (make, install):
        run(*command, environment=without_ros, directory=outside)
    wheel.unlink()
    (outside / "work").mkdir()
    shutil.copy(APP, outside / "work/app.yaml")
    return Installation(venv, outside)


def bounds_of(answer: subprocess.CompletedProcess[str]) -> dict[str, tuple[float, str]]:
    analysis = json.loads(answer.stdout)
    return {chain["id"]: (chain["bound_ms"], chain["verdict"]) for chain in analysis["chains"]}


def ask(address: str, body: dict[str, str]) -> Any:
    """Returns the answer of the server of `rclrt plan`."""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_analyze_proves_the_bounds(installation: Installation) -> None:
    answer = installation.run("rclrt", "analyze", "app.yaml", "--dispatch-us", "0", "--json")
    assert bounds_of(answer) == {chain: (ms, "proved") for chain, ms in BOUNDS_MS.items()}


def test_synthesize_writes_priorities(installation: Installation) -> None:
    installation.run("rclrt", "synthesize", "app.yaml", "-o", "priorities.yaml")
    written = read(installation.work / "priorities.yaml")
    assert written["priorities"] == {"steer": 2, "plan": 1, "follow": 1}


def test_assign_gives_each_node_a_core_of_its_own(installation: Installation) -> None:
    installation.run("rclrt", "assign", "app.yaml", "--cores", "2", "-o", "assigned.yaml")
    nodes = read(installation.work / "assigned.yaml")["nodes"]
    assert len({node["executor"] for node in nodes}) == 2
    answer = installation.run("rclrt", "analyze", "assigned.yaml", "--dispatch-us", "0", "--json")
    # Each chain is alone on its core, so its response time is its own work.
    assert bounds_of(answer) == {"steering": (2.0, "proved"), "planning": (6.0, "proved")}


def test_simulate_writes_a_run_and_report_its_page(installation: Installation) -> None:
    command = ("rclrt", "simulate", "app.yaml", "--executor", "preemptive", "--out", "out")
    installation.run(*command)
    out = installation.work / "out"
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    # Without offsets, all timers are released at once, so the bounds are reached.
    worst = {chain["id"]: chain["response_ms"]["worst"] for chain in results["chains"]}
    assert worst == BOUNDS_MS
    assert [chain["missed"] for chain in results["chains"]] == [0, 0]
    assert (out / "trace.pftrace").stat().st_size > 0

    page = out / "report.html"
    page.unlink()
    answer = installation.run("rclrt", "report", "out")
    assert "planning   priority 1, every 20 ms, deadline 20 ms" in answer.stdout
    assert "two_timers" in page.read_text(encoding="utf-8")


def test_plan_offers_the_examples_and_opens_one(installation: Installation) -> None:
    with subprocess.Popen(
        (installation.venv / "bin/rclrt", "plan", "--no-browser"),
        env=installation.environment,
        cwd=installation.work,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            opened = ask(f"{address}open", {"example": "autonomous_vehicle"})
            shown = {example["name"] for example in ask(f"{address}examples", {})["examples"]}
        finally:
            process.terminate()
    assert process.returncode == 0
    assert shown == {path.parent.name for path in ROOT.glob("examples/*/app.yaml")}
    assert opened["outputs"] == []
    chains = {chain["id"]: chain["bound_ms"] for chain in opened["answer"]["analysis"]["chains"]}
    assert chains["obstacle"] == 16.0  # examples/autonomous_vehicle/README.md


def test_python_has_the_analysis_as_functions(installation: Installation) -> None:
    answer = installation.run("python3", "-c", BOUNDS, "app.yaml")
    assert json.loads(answer.stdout) == {
        chain: [ms * 1e6, "proved"] for chain, ms in BOUNDS_MS.items()
    }


def test_run_says_that_it_needs_ros(installation: Installation) -> None:
    command = ("rclrt", "run", "app.yaml", "--executor", "preemptive", "--out", "measured")
    answer = installation.run(*command, code=2)
    assert answer.stderr.startswith(
        "rclrt: this rclrt is the Python wheel, which works without ROS 2; "
        "the program rclrt_runner needs ROS 2"
    )
    assert "\n  fix: install ROS 2, build the rclrt workspace on it" in answer.stderr
    assert not (installation.work / "measured").exists()


def test_plan_beside_a_robot_says_that_it_needs_ros(installation: Installation) -> None:
    answer = installation.run("rclrt", "plan", "app.yaml", "--live", code=2)
    assert answer.stderr.startswith("rclrt: `rclrt plan --live` needs rclpy and diagnostic_msgs")
    assert "\n  fix: install ROS 2, build the rclrt workspace on it" in answer.stderr


def test_nothing_is_loaded_from_the_sources_or_from_ros(installation: Installation) -> None:
    loaded = [Path(path) for path in json.loads(installation.run("python3", "-c", LOADED).stdout)]
    natives = [path for path in loaded if path.name.startswith("_native.")]
    assert [path.parent.name for path in natives] == ["rclrt_analysis", "rclrt_model"]
    assert all(path.is_relative_to(installation.venv) for path in natives)
    elsewhere = [ROOT, *our_prefixes(), *ros_prefixes()]
    strays = [path for path in loaded if any(path.is_relative_to(folder) for folder in elsewhere)]
    assert strays == []


def test_no_library_is_needed_but_those_of_the_compilers(installation: Installation) -> None:
    files = [
        *installation.venv.glob("lib/python3*/site-packages/rclrt_*/_native.*.so"),
        *installation.venv.glob("lib/python3*/site-packages/rclrt_py/programs/rclrt_simulator"),
    ]
    assert len(files) == 3
    for file in files:
        answer = run("ldd", file, environment=installation.environment, directory=file.parent)
        needed = {line.split()[0].split(".so")[0] for line in answer.stdout.splitlines()}
        rest = {name for name in needed if "/ld-linux" not in name and "linux-vdso" not in name}
        assert rest <= COMPILERS, answer.stdout
