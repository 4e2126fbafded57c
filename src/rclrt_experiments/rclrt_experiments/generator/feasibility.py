# SPDX-License-Identifier: Apache-2.0
"""Tests whether a generated application can meet its deadlines; gives its callbacks priorities."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.native import analysis, judge, load_application

from rclrt_experiments.generator.app_yaml import app_yaml
from rclrt_experiments.generator.application import GeneratedApplication
from rclrt_experiments.generator.timing import Infeasible

if TYPE_CHECKING:
    from rclrt_model import Application


def feasible_priorities(application: GeneratedApplication) -> dict[str, int]:
    """Returns the synthesized priorities by callback id; empty if the rules state no synthesis.
    Throws Infeasible, with the reason, if the application does not meet the rule `feasibility`: a
    utilisation of at most 1 on each CPU, or proved deadlines."""
    rules = application.rules
    if rules.feasibility != "none":
        _check_load(application)
    priorities: dict[str, int] = {}
    if rules.use_priority_synthesis:
        model = load(application, {})
        found = analysis().synthesize_priorities(model)
        priorities = {
            callback.id: priority
            for callback, (priority, _) in zip(model.callbacks, found, strict=True)
        }
    if rules.feasibility == "proved":
        model = load(application, priorities)
        found = judge(model, rules.executor, analysis().Machine())
        for chain, bound in zip(model.chains, found.chains, strict=True):
            if bound.verdict != "proved":
                what = "no bound was found"
                if bound.bound_ns is not None:
                    what = f"its bound of {bound.bound_ns / 1e6:.9g} ms is {bound.verdict}"
                raise Infeasible(
                    f"the deadline of {chain.id}, {chain.deadline_ns / 1e6:.9g} ms, is not proved "
                    f"under {rules.executor}: {what}"
                )
        for sampled, limits in zip(
            model.cause_effect_chains, found.cause_effect_chains, strict=True
        ):
            if limits.verdict != "proved":
                raise Infeasible(
                    f"the limits of {sampled.id} are not proved under {rules.executor}: "
                    f"{limits.note or limits.verdict}"
                )
    return priorities


def _check_load(application: GeneratedApplication) -> None:
    """Throws Infeasible if the callbacks of executors with the same CPUs have a utilisation above
    the number of these. Executors without stated CPUs are not checked, because they may use every
    CPU."""
    load: dict[tuple[int, ...], Decimal] = {}
    for executor in {place.executor for place in application.places.values()}:
        cpus = application.cpus_of(executor)
        load[cpus] = load.get(cpus, Decimal(0)) + application.load(executor)
    for cpus, total in sorted(load.items()):
        if cpus and total > len(cpus):
            on = ("CPU " if len(cpus) == 1 else "CPUs ") + ", ".join(map(str, cpus))
            raise Infeasible(f"the executors on {on} have a utilisation of {total:.3f}")


def load(
    application: GeneratedApplication,
    priorities: Mapping[str, int],
    deadlines_ns: Mapping[str, int] | None = None,
) -> Application:
    """Returns the application as rclrt_model's object, with these priorities and deadlines of
    callbacks, by callback id. None: no callback has a deadline of its own."""
    with tempfile.TemporaryDirectory(prefix="rclrt_generate_") as directory:
        path = Path(directory) / "app.yaml"
        path.write_text(app_yaml(application, priorities, deadlines_ns), encoding="utf-8")
        return load_application(path)
