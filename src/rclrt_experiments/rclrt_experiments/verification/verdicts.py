# SPDX-License-Identifier: Apache-2.0
"""Compares the verdicts of rclrt_analysis with those that the command prints, on drawn machines."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rclrt_cli.main import main
from rclrt_py.errors import RunFailed
from rclrt_py.executors import EXECUTORS
from rclrt_py.native import analysis, judge, load_application
from rclrt_py.stats import ms_or_none

from rclrt_experiments.generator.app_yaml import app_yaml
from rclrt_experiments.generator.application import GeneratedApplication
from rclrt_experiments.generator.draws import Draws

if TYPE_CHECKING:
    from rclrt_analysis import Judgement, Overheads
    from rclrt_model import Application

STATISTICS = ("max", "max", "max_undisturbed", "p99")


def drawn_machine(seed: int, load: float, largest_message: int) -> dict[str, Any]:
    """Draws the content of an overheads file. The drawn machine leaves real-time threads a share of
    the CPU of about `load`, was measured with messages of about `largest_message` bytes, and lacks
    some of the times that a file can have."""
    draws = Draws(seed, "machine")

    def time(most_us: float) -> object:
        most = round(draws.between(0, most_us), 3)
        if draws.chance(0.3):
            return most
        return {"min": 0, "p99": round(most / 2, 3), "max_undisturbed": most, "max": most}

    def times(**most_us: float) -> dict[str, object]:
        return {f"{name}_us": time(most) for name, most in most_us.items() if draws.chance(0.9)}

    document: dict[str, Any] = {
        "rclrt": 1,
        "kind": "overheads",
        "executors": {
            name: times(dispatch=100, timer_lateness=300, scheduler=50, polling=50)
            for name in EXECUTORS
            if draws.chance(0.9)
        },
        "hop_us": {"intra_process": time(200), "same_host": time(1000)},
    }
    if draws.chance(0.5):
        document["background_us"] = time(20)
    if draws.chance(0.7):
        share = load * draws.between(0.9, 1.3)
        document["rt_bandwidth"] = {"share": round(min(max(share, 0.1), 1.0), 4)}
    if draws.chance(0.7):
        measured = largest_message + draws.one_of((-1, 0, 1000))
        document["machine"] = {"message_bytes": max(measured, 0)}
    if draws.chance(0.5):
        document.setdefault("machine", {})["cpus"] = draws.one_of((1, 2, 4, 8))
    return document


class DrawnMachine:
    """A machine that is drawn for an application, in the files that the command reads."""

    def __init__(
        self,
        application: GeneratedApplication,
        priorities: Mapping[str, int],
        directory: Path,
    ) -> None:
        seed = application.rules.random_seed
        self._app = directory / "app.yaml"
        self._app.write_text(app_yaml(application, priorities), encoding="utf-8")
        self.application: Application = load_application(self._app)
        largest = max(application.message_bytes.values(), default=0)
        document = drawn_machine(seed, self.application.utilisation(), largest)
        self._overheads = directory / "overheads.json"
        self._overheads.write_text(json.dumps(document), encoding="utf-8")
        self._statistic = Draws(seed, "statistic").one_of(STATISTICS)
        self._file = analysis().load_overheads(self._overheads)

    def overheads(self, executor: str) -> Overheads:
        """Returns the overheads of this executor."""
        machine = self._file.machine(self.application, executor, statistic=self._statistic)
        overheads: Overheads = machine.overheads
        return overheads

    def difference(self, executor: str) -> str:
        """Returns the first difference of the two verdicts. Empty: none."""
        machine = self._file.machine(self.application, executor, statistic=self._statistic)
        ours = _stated(self.application, judge(self.application, executor, machine))
        printed = self._printed(executor)
        for key, value in ours.items():
            if printed[key] != value:
                return f"{key} is {printed[key]} from the command and {value} from the library"
        return ""

    def _printed(self, executor: str) -> dict[str, Any]:
        output, warnings = io.StringIO(), io.StringIO()  # warnings of drawn files are of no use
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(warnings):
            code = main([
                *("analyze", str(self._app), "--json", "--no-search", "--executor", executor),
                *("--overheads", str(self._overheads), "--overhead-percentile", self._statistic),
            ])  # fmt: skip
        if code not in (0, 1):
            said = warnings.getvalue().strip()
            raise RunFailed(f"rclrt analyze ended with exit code {code} for {self._app}: {said}")
        answer = json.loads(output.getvalue())
        keys = ("id", "bound_ms", "verdict", "assumptions")
        sampled = ("id", "reaction_ms", "age_ms", "verdict", "assumptions")
        return {
            "exit code": code,
            "feasible": answer["feasible"],
            "assumptions": answer["assumptions"],
            "chains": [{key: chain[key] for key in keys} for chain in answer["chains"]],
            "cause-effect chains": [
                {key: chain[key] for key in sampled}
                for chain in answer.get("cause_effect_chains", ())
            ],
        }


def _stated(application: Application, judgement: Judgement) -> dict[str, Any]:
    return {
        "exit code": 0 if judgement.feasible else 1,
        "feasible": judgement.feasible,
        "assumptions": [
            {"id": each.id, "text": each.text, "relevant": each.relevant}
            for each in judgement.assumptions
        ],
        "chains": [
            {
                "id": chain.id,
                "bound_ms": ms_or_none(bound.bound_ns),
                "verdict": bound.verdict,
                "assumptions": list(bound.assumptions),
            }
            for chain, bound in zip(application.chains, judgement.chains, strict=True)
        ],
        "cause-effect chains": [
            {
                "id": chain.id,
                "reaction_ms": ms_or_none(bound.reaction_ns),
                "age_ms": ms_or_none(bound.age_ns),
                "verdict": bound.verdict,
                "assumptions": list(bound.assumptions),
            }
            for chain, bound in zip(
                application.cause_effect_chains, judgement.cause_effect_chains, strict=True
            )
        ],
    }


def differences(
    application: GeneratedApplication, priorities: Mapping[str, int], executors: Sequence[str]
) -> tuple[dict[str, str], dict[str, Overheads]]:
    """Draws a machine and computes the verdicts on it by the command `rclrt analyze` and by the
    library. Returns, by executor, the first difference between the two (empty text: none) and the
    overheads of the machine."""
    with tempfile.TemporaryDirectory(prefix="rclrt_verify_") as directory:
        machine = DrawnMachine(application, priorities, Path(directory))
        found = {executor: machine.difference(executor) for executor in executors}
        return found, {executor: machine.overheads(executor) for executor in executors}
