# SPDX-License-Identifier: Apache-2.0
"""Imports the traces of two hosts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
from traced_runs import rclrt

SCHEMA = Path(__file__).resolve().parents[3] / "schemas/results.schema.json"
LEFT_BOOT = "11111111-2222-3333-4444-555555555555"
RIGHT_BOOT = "66666666-7777-8888-9999-aaaaaaaaaaaa"


def imported(
    tmp_path: Path, traces: list[Path], *options: str | Path
) -> tuple[dict[str, Any], Path, str]:
    """Returns the results, their directory, and the notes."""
    out = tmp_path / f"out_{len(list(tmp_path.glob('out_*')))}"
    done = rclrt("trace", "import", *traces, "--out", out, *options)
    assert done.returncode == 0, done.stderr
    results = json.loads((out / "results.json").read_text())
    parts = json.loads(SCHEMA.read_text())["$defs"]
    for kind in ("chain", "host", "hop", "cause_effect_chain"):
        for part in results.get(f"{kind}s", []):
            jsonschema.validate(part, {"$defs": parts, "$ref": f"#/$defs/{kind}"})
    return results, out, done.stderr
