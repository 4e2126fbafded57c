# SPDX-License-Identifier: Apache-2.0
"""The YAML file of an experiment: fixed rules, varied rules and executors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.errors import BadInput, did_you_mean
from rclrt_py.executors import EXECUTORS, check_executor, kind_name
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.native import analysis, model

from rclrt_experiments.generator.rules import Rules, read_rules

if TYPE_CHECKING:
    from rclrt_analysis import Overheads

THESIS = ("overhead", "utilisation", "chain-length", "priority-chain", "synthesis")
"""The experiments of chapter 7, in its order."""
SYNTHESIS = "+synthesis"
"""Suffix of an executor's name: its callbacks have synthesized priorities."""
SAMPLED, LET = "+sampled", "+let"
"""Suffixes of an executor's name: each link of its chains is sampled by a timer of the same period,
or is so with logical execution time."""
SUFFIXES = (SYNTHESIS, SAMPLED, LET)
KEYS = (
    "rclrt", "kind", "name", "title", "note", "section", "varied", "trials", "seconds", "executors",
    "chains", "rules", "points", "simulation",
)  # fmt: skip
OF_THE_RUN = ("random_seed", "executor", "executor_type", "use_priority_synthesis", "feasibility")
"""Rules that an experiment does not state, because the trial and the executor set them."""
MOST_TRIALS = 100_000
MOST_SECONDS = 24 * 3600
MOST_US = 1e6
PHASES = ("zero", "random")


@dataclass(frozen=True)
class Machine:
    """The overheads of a simulated machine, in nanoseconds."""

    lowest_execution: float = 1.0
    dispatch_ns: int = 0
    scheduler_ns: int = 0
    polling_ns: int = 0
    timer_jitter_ns: int = 0
    hop_ns: int = 0
    cpus: int = 1
    random_phases: bool = False
    """Whether timers without a stated offset begin at a random time within their period. If not,
    all begin together."""

    def native(self) -> Overheads:
        """Returns the overheads for the analysis and the simulation."""
        overheads: Overheads = analysis().Overheads(
            dispatch_ns=self.dispatch_ns,
            scheduler_ns=self.scheduler_ns,
            polling_ns=self.polling_ns,
            timer_jitter_ns=self.timer_jitter_ns,
            near_hop_ns=(0, self.hop_ns),
            far_hop_ns=(0, self.hop_ns),
        )
        return overheads


@dataclass(frozen=True)
class Point:
    """One value of the varied rule."""

    label: str
    panel: str
    """The figure of this point, if an experiment has several figures."""
    rules: Rules


@dataclass(frozen=True)
class Experiment:
    """The content of an experiment's file."""

    name: str
    title: str
    note: str
    """A note on the experiment; empty: none."""
    section: str
    """Section of the thesis; empty: none."""
    varied: str
    """The quantity that differs between the points: the text below the figures."""
    trials: int
    seconds: float
    executors: tuple[str, ...]
    chains: tuple[int, ...]
    """Chains with separate figures; empty: all chains are shown together."""
    points: tuple[Point, ...]
    machine: Machine
    digest: str
    """SHA-256 of the file's bytes."""


def base_of(executor: str) -> str:
    """Returns the executor, with its options, of a name in an experiment."""
    for suffix in SUFFIXES:
        if executor.endswith(suffix):
            return executor.removesuffix(suffix)
    return executor


def bundled() -> tuple[str, ...]:
    """Returns the names of the experiments that come with this package."""
    files = (resources.files("rclrt_experiments") / "bundled").iterdir()
    names = {file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")}
    return (*THESIS, *sorted(names - set(THESIS)))


def load_experiment(name: str) -> Experiment:
    """Loads a bundled experiment, or the user's file. Throws BadInput."""
    if name in bundled():
        with resources.as_file(resources.files("rclrt_experiments") / "bundled") as directory:
            return read_experiment(directory / f"{name}.yaml")
    path = Path(name)
    if path.suffix not in (".yaml", ".yml") and not path.exists():
        raise BadInput(
            f"unknown experiment '{name}'{did_you_mean(name, [*bundled(), 'all', 'beyond'])}\n"
            f"  expected all, beyond, a file, or one of: {', '.join(bundled())}"
        )
    return read_experiment(path)


def read_experiment(path: Path) -> Experiment:
    """Reads the experiment of a file. Throws BadInput with the file and the place in it."""
    module = model()
    try:
        document = JsonValue(module.read_yaml(path, "experiment", expected="experiment"), path)
    except module.ModelError as error:
        raise BadInput(str(error)) from error
    _only(document, KEYS)
    if document.get("rclrt").integer() != 1:
        document.get("rclrt").fail("format version 1")
    if document.get("kind").text() != "experiment":
        document.get("kind").fail("'experiment'")
    name = document.get("name")
    if not name.text().replace("-", "").replace("_", "").isalnum() or len(name.text()) > 100:
        name.fail("up to 100 letters, digits, - and _")
    trials = document.get("trials")
    if not 1 <= trials.integer() <= MOST_TRIALS:
        trials.fail(f"1 to {MOST_TRIALS}")
    seconds = document.get("seconds")
    if not 0.01 <= seconds.number() <= MOST_SECONDS:
        seconds.fail(f"0.01 to {MOST_SECONDS}")
    points = _read_points(document)
    return Experiment(
        name=name.text(),
        title=document.get("title").text(),
        note=document.get("note").text() if document.has("note") else "",
        section=document.get("section").text() if document.has("section") else "",
        varied=document.get("varied").text(),
        trials=trials.integer(),
        seconds=float(seconds.number()),
        executors=_read_executors(document.get("executors")),
        chains=_read_chains(document, points),
        points=points,
        machine=_read_machine(document),
        digest=hashlib.sha256(path.read_bytes()).hexdigest(),
    )


def parse_executors(text: str) -> tuple[str, ...]:
    """Parses a comma-separated list. Options, then one of SUFFIXES, may follow each name."""
    names = tuple(_checked(name.strip(), "--executors") for name in text.split(","))
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"--executors: '{name}' is listed more than once; list each once")
    return names


def _checked(name: str, place: str) -> str:
    """Returns the name, with its options in the order of results.json."""
    base = base_of(name)
    if kind_name(base) not in EXECUTORS:
        raise BadInput(
            f"{place}: unknown executor '{name}'{did_you_mean(base, EXECUTORS)}; expected "
            f"{', '.join(EXECUTORS)}, with {SYNTHESIS} behind it for synthesized priorities, or "
            f"{SAMPLED} or {LET} for sampled chains"
        )
    try:
        return check_executor(base) + name[len(base) :]
    except BadInput as error:
        raise BadInput(f"{place}: {error}") from None


def _only(value: JsonValue, known: Iterable[str]) -> None:
    for key in value.object():
        if key not in known:
            place = f"{value.place}.{key}" if value.place else key
            raise BadInput(f"{value.file}: {place} is not known{did_you_mean(key, known)}")


def _read_executors(value: JsonValue) -> tuple[str, ...]:
    names: list[str] = []
    for item in value.items():
        name = item.text()
        known = kind_name(base_of(name)) in EXECUTORS
        name = _checked(name, f"{item.file}: {item.place}") if known else name
        if not known or name in names:
            item.fail(
                f"one of {', '.join(EXECUTORS)}, each at most once; {', '.join(SUFFIXES[:-1])} or "
                f"{SUFFIXES[-1]} may follow a name"
            )
        names.append(name)
    if not names:
        value.fail("at least one executor")
    return tuple(names)


def _read_points(document: JsonValue) -> tuple[Point, ...]:
    fixed = _read_rules(document, Rules(feasibility="utilisation"))
    points: list[Point] = []
    for item in document.get("points").items():
        _only(item, ("label", "panel", "rules"))
        label = item.get("label").text()
        if not 1 <= len(label) <= 60 or any(label == point.label for point in points):
            item.get("label").fail("a text that no other point has, of up to 60 characters")
        panel = item.get("panel").text() if item.has("panel") else ""
        points.append(Point(label, panel, _read_rules(item, fixed)))
    if not points:
        document.get("points").fail("at least one point")
    return tuple(points)


def _read_rules(owner: JsonValue, base: Rules) -> Rules:
    if not owner.has("rules"):
        return base
    stated = owner.get("rules")
    for key in stated.object():
        if key.lower() in OF_THE_RUN:
            stated.get(key).fail("no such rule here: the trial and executor of a run determine it")
    return read_rules(stated, base)


def _read_chains(document: JsonValue, points: Iterable[Point]) -> tuple[int, ...]:
    if not document.has("chains"):
        return ()
    least = min(point.rules.chain_count for point in points)
    for item in document.get("chains").items():
        if not 0 <= item.integer() < least:
            item.fail(f"the number of a chain, 0 to {least - 1}")
    return tuple(item.integer() for item in document.get("chains").items())


def _read_machine(document: JsonValue) -> Machine:
    if not document.has("simulation"):
        return Machine()
    stated = document.get("simulation")
    times = ("dispatch_us", "scheduler_us", "polling_us", "timer_jitter_us", "hop_us")
    _only(stated, (*times, "lowest_execution", "cpus", "phases"))
    values: dict[str, int] = {}
    for name in times:
        if stated.has(name):
            if not 0 <= stated.get(name).number() <= MOST_US:
                stated.get(name).fail(f"microseconds from 0 to {MOST_US:g}")
            values[name.replace("_us", "_ns")] = round(stated.get(name).number() * 1000)
    lowest = stated.get("lowest_execution").number() if stated.has("lowest_execution") else 1.0
    if not 0 <= lowest <= 1:
        stated.get("lowest_execution").fail("a share of the execution time, 0 to 1")
    cpus = stated.get("cpus").integer() if stated.has("cpus") else 1
    if not 1 <= cpus <= 64:
        stated.get("cpus").fail("1 to 64")
    phases = stated.get("phases").text() if stated.has("phases") else PHASES[0]
    if phases not in PHASES:
        stated.get("phases").fail(f"one of {', '.join(PHASES)}")
    return Machine(lowest_execution=lowest, cpus=cpus, random_phases=phases == "random", **values)
