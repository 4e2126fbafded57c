# SPDX-License-Identifier: Apache-2.0
"""Workloads that replace CPU time: thesis, section 6.2.5."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rclrt_cli.main import main
from rclrt_experiments.generator.app_yaml import app_yaml
from rclrt_experiments.generator.application import draw_application
from rclrt_experiments.generator.package import CLIENTS, package_files
from rclrt_experiments.generator.rules import PRESETS
from rclrt_experiments.generator.timing import Infeasible
from rclrt_experiments.generator.workloads import best, read_workloads, with_workloads
from rclrt_py.errors import BadInput
from rclrt_py.files.json_reader import JsonValue

import rclrt_model

TIMES = {"matrix": 19_000, "sort": 6_000, "fft": 5_900}
CALIBRATED = {
    "rclrt": 1,
    "kind": "workloads",
    "workloads": [{"name": "matrix", "mean_us": 19, "max_us": 30}],
}
THESIS = [{"Name": "adpcm_dec", "Execution_time_us": 70}]


def read(value: Any, statistic: str = "mean") -> dict[str, int]:
    return read_workloads(JsonValue.parse(json.dumps(value), Path("w.json")), statistic)


def test_both_files_are_read() -> None:
    assert read(CALIBRATED) == {"matrix": 19_000}
    assert read(CALIBRATED, "max") == {"matrix": 30_000}
    assert read(THESIS) == {"adpcm_dec": 70_000}


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ([], "the document"),
        ([{"Name": "a; rm", "Execution_time_us": 1}], "[0].Name"),
        ([{"Name": "a__b", "Execution_time_us": 1}], "[0].Name"),
        ([{"Name": "a", "Execution_time_us": 0}], "[0].Execution_time_us"),
        ([{"Name": "a", "Execution_time_us": 1}] * 2, "[1].Name"),
        ({"kind": "overheads"}, "kind"),
        ({"kind": "workloads", "rclrt": 2}, "rclrt"),
        ({"kind": "workloads", "rclrt": 1, "workloads": [{"name": "a"}]}, "mean_us"),
    ],
)
def test_a_wrong_file_names_the_place(value: Any, place: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(value)
    assert place in str(caught.value)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 10**8), st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 10**7)))
def test_the_smallest_remainder_is_left(execution_ns: int, times_ns: dict[str, int]) -> None:
    found = best(execution_ns, times_ns)
    fitting = {name: ns for name, ns in times_ns.items() if ns <= execution_ns}
    if found is None:
        assert not fitting
        return
    left = execution_ns - found.iterations * times_ns[found.name]
    assert 0 <= left < times_ns[found.name]
    assert left == min(execution_ns % ns for ns in fitting.values())


def test_each_callback_that_works_has_one_and_its_file_is_valid(tmp_path: Path) -> None:
    rules = replace(PRESETS["drone"], chain_sync_p=0.3)
    for seed in range(5):
        drawn = draw_application(replace(rules, random_seed=seed))
        application = with_workloads(drawn, TIMES)
        file = tmp_path / "app.yaml"
        file.write_text(app_yaml(application))
        for callback in rclrt_model.load(file).callbacks:
            if callback.wcet_ns == 0:
                assert callback.workload is None
                continue
            assert callback.workload is not None
            used = callback.workload.iterations * TIMES[callback.workload.name]
            assert 0 <= callback.wcet_ns - used < min(TIMES.values())
        for client in CLIENTS:
            files = dict(package_files(application, {}, client))
            sources = "".join(text for name, text in files.items() if name.endswith(".cpp"))
            assert sources.count("rclrt::workloads::make(") == len(application.workloads)
            assert "rclrt_workloads" in files["package.xml"]
            plain = dict(package_files(drawn, {}, client))
            assert "workloads" not in "".join(plain.values())


def test_a_callback_that_is_shorter_than_all_is_infeasible() -> None:
    application = draw_application(PRESETS["drone"])
    with pytest.raises(Infeasible, match=r"less than any workload takes \(1e\+06 us\)"):
        with_workloads(application, {"long": 10**9})


def test_the_command_assigns_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "w.json"
    file.write_text(json.dumps(CALIBRATED))
    assert main(["generate", "--preset", "drone", "--workloads", str(file)]) == 0
    assert "workload: {name: matrix, iterations: " in capsys.readouterr().out
    file.write_text(json.dumps([{"Name": "long", "Execution_time_us": 1e9}]))
    assert main(["generate", "--preset", "drone", "--workloads", str(file)]) == 1
    assert "less than any workload takes" in capsys.readouterr().err
    assert main(["generate", "--preset", "drone", "--workload-time", "max"]) == 2
    assert "add --workloads FILE" in capsys.readouterr().err
