# SPDX-License-Identifier: Apache-2.0
"""schemas/results.schema.json accepts the results that are written, and rejects others."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rclrt_py.comparisons.comparison import Comparison
from sources import SCHEMA


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture
def run_document(comparison_directory: Path) -> Any:
    return json.loads((comparison_directory / "preemptive/round-1/results.json").read_text())


def test_a_runs_results_are_valid(
    validator: jsonschema.Draft202012Validator, run_document: Any
) -> None:
    validator.validate(run_document)


def test_a_comparison_is_valid(
    validator: jsonschema.Draft202012Validator, comparison: Comparison
) -> None:
    validator.validate(json.loads(json.dumps(comparison.to_json(), allow_nan=False)))


def test_a_chain_that_never_completed_is_valid(
    validator: jsonschema.Draft202012Validator, run_document: Any
) -> None:
    run_document["chains"][0].update(response_ms=None, normalised_worst=None, jitter_ms=None)
    validator.validate(run_document)


@pytest.mark.parametrize(
    "path",
    [
        ("rclrt_results",),
        ("context",),
        ("context", "realtime"),
        ("context", "host_stalls", "valid"),
        ("chains", 0, "missed_host"),
        ("chains", 0, "response_ms", "p99"),
        ("callbacks", 0, "dispatch_ms"),
        ("threads", 0, "policy"),
    ],
)
def test_a_missing_key_is_invalid(
    validator: jsonschema.Draft202012Validator, run_document: Any, path: tuple[str | int, ...]
) -> None:
    broken = copy.deepcopy(run_document)
    place = broken
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(broken)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rclrt_results",), 2),
        (("executor",), "magic"),
        (("started_utc",), "yesterday"),
        (("application", "sha256"), "abc"),
        (("chains", 0, "missed"), -1),
        (("chains", 0, "deadline_ms"), 0),
        (("callbacks", 0, "kind"), "action"),
        (("chains", 0, "surprise"), 1),
    ],
)
def test_a_wrong_value_is_invalid(
    validator: jsonschema.Draft202012Validator,
    run_document: Any,
    path: tuple[str | int, ...],
    value: object,
) -> None:
    broken = copy.deepcopy(run_document)
    place = broken
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(broken)
