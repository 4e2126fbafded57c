# SPDX-License-Identifier: Apache-2.0
"""Triggers of `static_order`, on real ROS 2."""

from __future__ import annotations

import json
from pathlib import Path

from running import APPLICATION, run


def test_a_trigger_that_does_not_exist_is_exit_code_2_and_writes_nothing(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(APPLICATION)
    done = run(app, tmp_path / "out", "static_order:trigger_on=scam")
    assert done.returncode == 2
    assert "trigger_on: the application has no callback 'scam'" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_set_waits_for_its_trigger(tmp_path: Path) -> None:
    """The messages of scan and look are fused at the next release of scan, and the result is taken
    at the one after that."""
    app = tmp_path / "app.yaml"
    app.write_text(APPLICATION)
    done = run(app, tmp_path / "out", "static_order:trigger_on=scan:let")
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["executor"] == "static_order:trigger_on=scan:let"
    assert results["executor_label"] == "static_order, trigger scan, LET"
    chains = {chain["id"]: chain for chain in results["chains"]}
    assert chains["obstacle"]["completed"] > 0
    assert chains["obstacle"]["response_ms"]["best"] > 40
