# SPDX-License-Identifier: Apache-2.0
"""The response-time bounds that the analysis computes for an application. They are kept as
bounds.json beside the results of a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.bounds.machine import OverheadsFile, machine_of
from rclrt_py.executors import EXECUTORS, kind_name
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.native import analysis, judge
from rclrt_py.runs.output_directory import BOUNDS
from rclrt_py.stats import ms_or_none, to_ms

if TYPE_CHECKING:
    from rclrt_analysis import ChainLimit
    from rclrt_model import Application

BOUNDS_VERSION = 2


@dataclass(frozen=True)
class PredictedChain:
    """The bound of one chain under one executor."""

    id: str
    bound_ms: float | None
    verdict: str
    assumptions: tuple[str, ...]
    """Assumptions of this chain. Those of all chains of the executor are in Prediction."""
    level: int
    """Lowest priority on the chain's path. Through a sync: the lowest of all callbacks."""
    cpus: tuple[int, ...]
    """CPUs of its executors. Empty: any CPU."""
    note: str
    callbacks: tuple[str, ...] = ()
    step_bounds_ms: tuple[float | None, ...] = ()
    """Bounds from the chain's release to the end of each of its callbacks."""
    meets_all: bool = True
    """Whether all syncs match every instance. If not, an instance may have no response."""

    @property
    def bound_ns(self) -> int | None:
        return None if self.bound_ms is None else round(self.bound_ms * 1e6)

    def limit(self) -> ChainLimit:
        """Returns the form in which the analysis compares observations with it."""
        limit: ChainLimit = analysis().ChainLimit(
            chain=self.id,
            bound_ns=self.bound_ns,
            level=self.level,
            cpus=self.cpus,
            callbacks=self.callbacks,
            meets_all=self.meets_all,
            assumptions=self.assumptions,
        )
        return limit


@dataclass(frozen=True)
class PredictedTerm:
    """One term of the bounds of a chain that samples. Its kind and chain are those of a WayTerm."""

    kind: str
    chain: str
    reaction_ms: float
    age_ms: float

    @classmethod
    def read(cls, json: JsonValue) -> PredictedTerm:
        return cls(
            kind=json.get("kind").text(),
            chain=json.get("chain").text(),
            reaction_ms=json.get("reaction_ms").number(),
            age_ms=json.get("age_ms").number(),
        )


@dataclass(frozen=True)
class PredictedSampling:
    """The bounds of one chain that samples, under one executor."""

    id: str
    reaction_ms: float | None
    age_ms: float | None
    verdict: str
    assumptions: tuple[str, ...]
    note: str
    why: tuple[PredictedTerm, ...] = ()
    """They add up to the bounds."""

    @classmethod
    def read(cls, json: JsonValue) -> PredictedSampling:
        return cls(
            id=json.get("id").text(),
            reaction_ms=json.get("reaction_ms").number_or_none(),
            age_ms=json.get("age_ms").number_or_none(),
            verdict=json.get("verdict").text(),
            assumptions=tuple(json.get("assumptions").texts()),
            note=json.get("note").text(),
            why=tuple(map(PredictedTerm.read, json.get("why").items())) if json.has("why") else (),
        )


@dataclass(frozen=True)
class Prediction:
    """The bounds of one executor."""

    chains: dict[str, PredictedChain]
    assumptions: tuple[str, ...]
    cause_effect_chains: dict[str, PredictedSampling] = field(default_factory=dict)


@dataclass(frozen=True)
class Predictions:
    """Predictions by executor name. Executors for which the analysis has no bounds are absent."""

    executors: dict[str, Prediction]
    overheads: str
    """The file and the statistic that were used. Empty: none."""

    def to_json(self) -> str:
        document = {
            "rclrt_bounds": BOUNDS_VERSION,
            "overheads": self.overheads,
            "executors": {
                name: {
                    "assumptions": list(prediction.assumptions),
                    "chains": [asdict(chain) for chain in prediction.chains.values()],
                    "cause_effect_chains": [
                        asdict(chain) for chain in prediction.cause_effect_chains.values()
                    ],
                }
                for name, prediction in self.executors.items()
            },
        }
        return json.dumps(document, indent=1) + "\n"

    @classmethod
    def load(cls, directory: Path) -> Predictions | None:
        """Loads the predictions of a results directory. None: no bounds were requested."""
        path = directory / BOUNDS
        if not path.is_file():
            return None
        json = JsonValue.load(path)
        version = json.get("rclrt_bounds")
        if version.integer() != BOUNDS_VERSION:
            version.fail(f"format version {BOUNDS_VERSION}")
        stated = json.get("executors")
        executors = {name: _read_prediction(stated.get(name)) for name in stated.object()}
        return cls(executors, json.get("overheads").text())


def predict(
    application: Application, executors: Sequence[str], overheads: OverheadsFile | None
) -> Predictions:
    """Returns the bounds of what rclrt_model loaded, under each of the executors."""
    found = {
        executor: _predict(application, executor, overheads)
        for executor in executors
        if kind_name(executor) in EXECUTORS and analysis().why_no_bounds(executor) is None
    }
    return Predictions(found, f"{overheads.path}, {overheads.statistic}" if overheads else "")


def _predict(
    application: Application, executor: str, overheads: OverheadsFile | None
) -> Prediction:
    module = analysis()
    machine = machine_of(application, executor, overheads)
    found = judge(module.with_steps(application), executor, machine)
    steps = iter(found.chains)
    chains = {}
    for place, stated in enumerate(application.chains):
        until = [next(steps) for _ in stated.callbacks]
        whole = until[-1]
        limit = module.chain_limit(application, place, whole)
        chains[stated.id] = PredictedChain(
            id=stated.id,
            bound_ms=ms_or_none(whole.bound_ns),
            verdict=whole.verdict,
            assumptions=whole.assumptions,
            level=limit.level,
            cpus=limit.cpus,
            note=whole.note,
            callbacks=limit.callbacks,
            step_bounds_ms=tuple(ms_or_none(step.bound_ns) for step in until),
            meets_all=limit.meets_all,
        )
    sampling = {
        stated.id: PredictedSampling(
            id=stated.id,
            reaction_ms=ms_or_none(bound.reaction_ns),
            age_ms=ms_or_none(bound.age_ns),
            verdict=bound.verdict,
            assumptions=bound.assumptions,
            note=bound.note,
            why=tuple(
                PredictedTerm(
                    kind=term.kind,
                    chain=application.chains[stated.segments[term.segment].chain].id,
                    reaction_ms=to_ms(term.reaction_ns),
                    age_ms=to_ms(term.age_ns),
                )
                for term in bound.why
            ),
        )
        for stated, bound in zip(
            application.cause_effect_chains, found.cause_effect_chains, strict=True
        )
    }
    return Prediction(chains, tuple(each.text for each in found.assumptions), sampling)


def _read_prediction(json: JsonValue) -> Prediction:
    chains = [_read_chain(item) for item in json.get("chains").items()]
    sampling = (
        [PredictedSampling.read(item) for item in json.get("cause_effect_chains").items()]
        if json.has("cause_effect_chains")
        else []
    )
    return Prediction(
        {chain.id: chain for chain in chains},
        tuple(json.get("assumptions").texts()),
        {chain.id: chain for chain in sampling},
    )


def _read_chain(json: JsonValue) -> PredictedChain:
    return PredictedChain(
        id=json.get("id").text(),
        bound_ms=json.get("bound_ms").number_or_none(),
        verdict=json.get("verdict").text(),
        assumptions=tuple(json.get("assumptions").texts()),
        level=json.get("level").integer(),
        cpus=tuple(item.integer() for item in json.get("cpus").items()),
        note=json.get("note").text(),
        callbacks=tuple(json.get("callbacks").texts()),
        step_bounds_ms=tuple(item.number_or_none() for item in json.get("step_bounds_ms").items()),
        meets_all=json.get("meets_all").boolean(),
    )
