# SPDX-License-Identifier: Apache-2.0
"""`rclrt generate`, called as a user calls it."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rclrt_experiments.generator.application import draw_application
from rclrt_experiments.generator.rules import PRESETS, Rules, read_rules
from rclrt_experiments.generator.timing import Infeasible
from rclrt_py.errors import BadInput
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.testing.command import command
from rclrt_py.testing.waiting import GENEROUS_S, wait_for

# The form of the thesis's tool.
PUBLISHED = {
    "Name": "demo", "Directory": "/nowhere", "Chain_count": 3, "Chain_avg_len": 3,
    "Chain_merge_p": 0.1, "Chain_sync_p": 0.1, "Chain_variance": 0.25, "Util_total": 0.6,
    "Min_period_us": 20000, "Max_period_us": 1000000, "Period_step_us": 50000,
    "Hyperperiod_count": 2, "Max_duration_us": 30000000, "PPE": True, "Executor_count": 4,
    "Random_seed": 1, "Logging_mode": 2,
}  # fmt: skip
FILES = {
    "app.yaml", "application.gv", "application.svg", "chains.gv", "chains.json", "chains.svg",
    "rules.json",
}  # fmt: skip


def generate(*arguments: str | Path | int, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("generate", *arguments),
        capture_output=True, text=True, timeout=GENEROUS_S, check=False, **more,
    )  # fmt: skip


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(PUBLISHED))
    return path


def test_the_published_rules_give_an_application_with_pictures(rules: Path, tmp_path: Path) -> None:
    out = tmp_path / "made" / "demo"
    done = generate(rules, "-o", out)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in out.iterdir()} == FILES
    assert "3 chains" in done.stdout
    rows = json.loads((out / "chains.json").read_text())
    assert [row["ID"] for row in rows] == [0, 1, 2]
    assert set(rows[0]) == {
        "ID", "Prio", "Path", "Period_us", "Utilisation", "Random_seed", "PPE", "Avg_len",
        "Merge_p", "Sync_p", "Variance", "Executors",
    }  # fmt: skip
    picture = (out / "application.svg").read_text()
    assert "executor0, CPU 0" in picture
    assert "0.0" in picture  # the label of an edge: chain and hop


def test_rules_may_come_through_a_pipe(rules: Path, tmp_path: Path) -> None:
    done = generate("/dev/stdin", "-o", tmp_path / "demo", input=rules.read_text())
    assert done.returncode == 0, done.stderr
    assert "3 chains" in done.stdout


def test_the_rules_beside_an_application_give_the_same_one_again(
    rules: Path, tmp_path: Path
) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    assert generate(rules, "-o", first).returncode == 0
    assert generate(first / "rules.json", "-o", again).returncode == 0
    for name in FILES:
        assert (first / name).read_bytes() == (again / name).read_bytes()
    printed = generate(rules)
    assert printed.stdout == (first / "app.yaml").read_text()


def test_count_makes_one_of_each_seed(rules: Path, tmp_path: Path) -> None:
    out = tmp_path / "many"
    done = generate(rules, "--count", 5, "--seed", 7, "-o", out)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in out.iterdir()} == {f"seed{n}" for n in range(7, 12)}
    single = generate(rules, "--seed", 9)
    assert (out / "seed9" / "app.yaml").read_text() == single.stdout


def test_given_times_take_the_place_of_drawn_ones(tmp_path: Path) -> None:
    times = tmp_path / "times.json"
    times.write_text('[{"T": 20000, "C": 5000}, {"T": 40000, "C": 2000}]')
    two = '{"chain_count": 2, "chain_avg_len": 2, "util_total": 0.3}'
    done = generate("--rules-data", two, "--timing-data", times)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("wcet_ms: 2.5,") + done.stdout.count("wcet_ms: 2.5}") == 2
    assert done.stdout.count("wcet_ms: 1,") + done.stdout.count("wcet_ms: 1}") == 2
    more = two.replace("0.3", "0.302")
    refused = generate("--rules-data", more, "--timing-data", times)
    assert refused.returncode == 2
    assert "the utilisation is 0.3000; expected util_total, 0.302, within 0.001" in refused.stderr


def test_synthesis_gives_callbacks_priorities_of_their_own(tmp_path: Path) -> None:
    done = generate("--rules-data", '{"chain_merge_p": 0.2, "use_priority_synthesis": true}')
    assert done.returncode == 0, done.stderr
    callbacks = [line for line in done.stdout.splitlines() if "wcet_ms" in line]
    assert callbacks
    assert all(", priority: " in line for line in callbacks)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ('{"util_total": 1.5, "chain_count": 4}', "CPU 0 have a utilisation of 1.500"),
        ('{"util_total": 1, "feasibility": "proved"}', "is not proved under preemptive"),
        (
            '{"min_chain_utilisation": 0.0999, "util_total": 0.5}',
            "none of 5000 draws by uunifast has every chain's utilisation between 0.0999 and 1",
        ),
    ],
)
def test_what_is_infeasible_says_why_and_writes_nothing(
    tmp_path: Path, more: str, why: str
) -> None:
    for count in ((), ("--count", "2")):
        done = generate("--rules-data", more, "-o", tmp_path / "out", *count)
        assert done.returncode in (1, 2)
        assert why in done.stderr
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"chian_count": 1}', "'chian_count' is no rule; did you mean 'chain_count'?"),
        ('{"chain_count": 1, "Chain_count": 2}', "'Chain_count' and 'chain_count' are the same"),
        ('{"chain_count": 0}', "chain_count is 0; expected a number from 1 to 1000"),
        ('{"chain_count": 1.5}', "chain_count is 1.5; expected a whole number"),
        ('{"name": "a; rm -rf /"}', "name is"),
        ('{"name": "../up"}', "name is"),
        ('{"util_total": "all"}', 'util_total is "all"; expected a number'),
        ('{"util_total": 0}', "util_total is 0; expected more than 0"),
        ('{"util_total": 6}', "util_total is 6; expected 0 to 5, what 5 chains of 0 to 1"),
        ('{"preset": "drne"}', "did you mean 'drone'?"),
        ('{"period_choice": "list"}', "periods_us is missing; expected a list of periods"),
        ('{"max_period_us": 100}', "max_period_us is 100; expected min_period_us to be at most"),
        ('{"period_step_us": 999999999}', "expected a step of which a multiple is from 20000 to"),
        ('{"max_event_interval": 0.5}', "max_event_interval is 0.5; expected a number from 1 to"),
        ('{"cpus": [0, 0]}', "cpus is [0, 0]; expected numbers of CPUs, each once"),
        ('{"executor_type": 9}', "executor_type is 9; expected 0 (wait_set)"),
        ('{"chain_avg_len": 1e400}', "chain_avg_len is Infinity; expected a number"),
        ("[]", "the document is []; expected an object"),
        ("{", "--rules-data:1:2: "),
    ],
)
def test_bad_rules_are_named_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    done = generate("--rules-data", text, "-o", tmp_path / "out")
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_directory_with_something_in_it_is_left_alone(rules: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("keep")
    done = generate(rules, "-o", out)
    assert done.returncode == 2
    assert "is not empty; name a new directory, or empty this one" in done.stderr
    assert [path.name for path in out.iterdir()] == ["mine"]
    taken = generate(rules, "-o", out / "mine")
    assert (taken.returncode, (out / "mine").read_text()) == (2, "keep")
    (out / "mine").unlink()
    assert generate(rules, "-o", out).returncode == 0  # an empty directory is accepted


def test_a_full_disk_leaves_nothing(rules: Path, tmp_path: Path) -> None:
    def no_large_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = generate(rules, "-o", tmp_path / "out", preexec_fn=no_large_files)
    assert done.returncode == 2
    assert "cannot be written: File too large" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"rules.json"}


def test_ctrl_c_leaves_nothing(rules: Path, tmp_path: Path) -> None:
    child = subprocess.Popen(
        [
            *command("generate", rules, "--count", "9999999"),
            *("-o", tmp_path / "out"),
        ],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for(lambda: child.poll() is not None or any(tmp_path.glob(".out.*/seed20")))
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=GENEROUS_S)
    assert child.returncode == 130
    assert "Traceback" not in said
    assert {path.name for path in tmp_path.iterdir()} == {"rules.json"}


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5),
    st.lists(st.integers(-5, 100_000), max_size=3), st.integers(0, 50), st.floats(0, 1),
    st.sampled_from(["randfixedsum", "log_uniform", "list", "chain_0", "random", "exact", "none"]),
)  # fmt: skip
KEYS = st.sampled_from([*Rules.__dataclass_fields__, "directory", "preset", "executor_type", "x"])


@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(KEYS, VALUES, max_size=6))
@example({"sample_p": 1.0})
def test_whatever_the_rules_are_they_are_refused_or_obeyed(document: dict[str, Any]) -> None:
    try:
        rules = read_rules(JsonValue(document, Path("rules.json")), PRESETS["default"])
    except BadInput as refused:
        said = str(refused)
    else:
        said = ""
    if said:
        assert said.startswith("rules.json: ")
        assert "\n" not in said
        return
    if rules.chain_count * rules.chain_avg_len > 500:
        return  # takes long
    try:
        application = draw_application(rules)
    except Infeasible:
        return
    more_segments = sum(len(path) - 1 for path in application.paths)
    assert len(application.graph.chains) == rules.chain_count + more_segments


def test_scheduler_threads_have_the_cpus_that_the_rules_name() -> None:
    rules = '{"executor_count": 2, "cpus": [1], "scheduler_cpus": [0]}'
    done = generate("--rules-data", rules)
    assert done.returncode == 0, done.stderr
    assert "cpus: [1], scheduler_cpus: [0], process: process0}" in done.stdout
    done = generate("--rules-data", '{"scheduler_cpus": [-1]}')
    assert done.returncode == 2
    assert "scheduler_cpus is [-1]; expected numbers of CPUs, each once" in done.stderr
