# SPDX-License-Identifier: Apache-2.0
"""The application as rclrt_model reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.runs.application import describe_app_file
from rclrt_py.testing.workspace import app_yaml

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_an_app_file_becomes_the_graph_of_the_report(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(app_yaml())
    info = describe_app_file(tmp_path / "app.yaml")
    assert info is not None
    assert info.complete
    assert info.hyperperiod_ns == 150_000_000  # of 50 and 75 ms
    callbacks = {callback.id: callback for callback in info.callbacks}
    assert callbacks["scan"].kind == "timer"
    assert callbacks["scan"].period_ns == 50_000_000
    assert callbacks["fuse"].kind == "sync"
    assert callbacks["fuse"].subscribes == ("points", "objects")
    assert callbacks["fuse"].priority == 3  # the higher of its two chains
    assert callbacks["plan"].kind == "subscription"
    assert callbacks["plan"].wcet_ns == 8_000_000
    assert callbacks["plan"].publishes == ("path",)
    assert [chain.id for chain in info.chains] == ["obstacle", "planning", "mapping"]
    assert info.chains[1].callbacks == ("scan", "fuse", "plan", "steer")


def test_a_broken_app_file_is_refused_with_its_located_error(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text("rclrt: 1\nname: x\nnodez: []\n")
    with pytest.raises(BadInput) as caught:
        describe_app_file(tmp_path / "app.yaml")
    assert "app.yaml:3:1" in str(caught.value)


@pytest.mark.parametrize(
    "example", sorted(path.parent.name for path in EXAMPLES.glob("*/app.yaml"))
)
def test_every_example_can_be_described(example: str) -> None:
    info = describe_app_file(EXAMPLES / example / "app.yaml")
    assert info is not None
    assert json.loads(info.to_json())["name"] == info.name
