# SPDX-License-Identifier: Apache-2.0
"""The facts about an application that a report needs, kept as application.json beside the results.
With this file, `rclrt report` needs neither the app.yaml nor a ROS 2 environment."""

from __future__ import annotations

import importlib
import json
import math
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rclrt_py.errors import BadInput
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.event_times import EventTimes, release_text
from rclrt_py.runs.results import Results

if TYPE_CHECKING:
    from rclrt_model import Application, Callback

APPLICATION_VERSION = 2
NO_DEADLINE_NS = 3_600_000_000_000
"""The deadline of a chain without one: the largest that a file can have."""


@dataclass(frozen=True)
class CallbackInfo:
    """A callback of the graph; its topics are the edges."""

    id: str
    node: str
    kind: str
    priority: int
    wcet_ns: int | None
    period_ns: int | None
    subscribes: tuple[str, ...]
    publishes: tuple[str, ...]
    event: EventTimes | None = None

    @property
    def releases_text(self) -> str | None:
        """Returns when the timer or event releases it, as a text. None for other callbacks."""
        return release_text(self.period_ns / 1e6, self.event) if self.period_ns else None


@dataclass(frozen=True)
class ChainInfo:
    """A chain. `topics` has, for each callback, the topics by which the chain reaches it."""

    id: str
    callbacks: tuple[str, ...]
    priority: int
    topics: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ApplicationInfo:
    """The graph of an application. `complete` is False if only its chains are known."""

    name: str
    description: str
    hyperperiod_ns: int
    utilisation: float | None
    callbacks: tuple[CallbackInfo, ...]
    chains: tuple[ChainInfo, ...]
    complete: bool = True
    cause_effect_chains: tuple[str, ...] = ()
    """The ids of the chains that sample, or that state a largest reaction time or data age."""

    def to_json(self) -> str:
        return json.dumps({"rclrt_application": APPLICATION_VERSION, **asdict(self)}, indent=1)

    @classmethod
    def load(cls, path: Path) -> ApplicationInfo:
        json = JsonValue.load(path)
        version = json.get("rclrt_application")
        if version.integer() != APPLICATION_VERSION:
            version.fail(f"format version {APPLICATION_VERSION}")
        return cls(
            name=json.get("name").text(),
            description=json.get("description").text(),
            hyperperiod_ns=json.get("hyperperiod_ns").count(),
            utilisation=json.get("utilisation").number_or_none(),
            callbacks=tuple(_read_callback(item) for item in json.get("callbacks").items()),
            chains=tuple(_read_chain(item) for item in json.get("chains").items()),
            complete=json.get("complete").boolean(),
            cause_effect_chains=tuple(json.get("cause_effect_chains").texts())
            if json.has("cause_effect_chains")
            else (),
        )


def describe_app_file(path: Path, priorities: Path | None = None) -> ApplicationInfo | None:
    """Loads the facts about an application from its app.yaml. Returns None if the module that reads
    app.yaml is not installed. `priorities` is a file with callback priorities that replace those of
    the application; None: none are replaced."""
    application = _load(path, priorities)
    return from_model(application) if application else None


def on_several_cpus(path: Path) -> str | None:
    """Returns the name of the first executor in the app.yaml that states several CPUs. None: no
    executor does, or the module that reads app.yaml is not installed. Throws BadInput if the file
    is not an app.yaml."""
    application = _load(path, None)
    executors = application.executors if application else ()
    return next((each.name for each in executors if len(each.cpus) > 1), None)


def _load(path: Path, priorities: Path | None) -> Application | None:
    try:
        model = importlib.import_module("rclrt_model")
    except ImportError:
        return None
    try:
        application: Application = model.load(path, priorities)
    except model.ModelError as error:
        raise BadInput(str(error)) from error
    return application


def from_model(application: Application) -> ApplicationInfo:
    """Converts an application of rclrt_model to the form of the report."""
    ids = [callback.id for callback in application.callbacks]
    return ApplicationInfo(
        name=application.name,
        description=application.description,
        hyperperiod_ns=_value(application.hyperperiod_ns),
        utilisation=_value(application.utilisation),
        callbacks=tuple(
            _from_model_callback(application, index) for index in range(len(application.callbacks))
        ),
        chains=tuple(
            ChainInfo(
                id=chain.id,
                callbacks=tuple(ids[index] for index in chain.callbacks),
                priority=chain.priority,
                topics=tuple(
                    tuple(application.callbacks[index].inputs[entry] for entry in entries)
                    for index, entries in zip(
                        chain.callbacks, application.entries(chain), strict=True
                    )
                ),
            )
            for chain in application.chains
        ),
        cause_effect_chains=tuple(chain.id for chain in application.cause_effect_chains),
    )


def from_results(results: Results) -> ApplicationInfo:
    """Returns the part of the application that its results name: chains, without topics."""
    periods = [round(chain.period_ms * 1e6) for chain in results.chains if chain.period_ms > 0]
    following: dict[str, list[str]] = {callback.id: [] for callback in results.callbacks}
    for chain in results.chains:
        for before, after in pairwise(chain.callbacks):
            following.setdefault(before, []).append(after)
    return ApplicationInfo(
        name=results.application["name"],
        description="",
        hyperperiod_ns=math.lcm(*periods) if periods else 0,
        utilisation=None,
        callbacks=tuple(
            CallbackInfo(
                id=callback.id,
                node=callback.node,
                kind=callback.kind,
                priority=callback.priority,
                wcet_ns=None,
                period_ns=None,
                subscribes=tuple(
                    dict.fromkeys(
                        before for before, after in following.items() if callback.id in after
                    )
                ),
                publishes=(callback.id,) if following[callback.id] else (),
            )
            for callback in results.callbacks
        ),
        chains=tuple(
            ChainInfo(
                id=chain.id,
                callbacks=chain.callbacks,
                priority=chain.priority,
                topics=((), *((before,) for before in chain.callbacks[:-1])),
            )
            for chain in results.chains
        ),
        complete=False,
    )


def interval_ns(callback: Callback) -> int | None:
    """Returns the period of a timer or event; for an event without a period, its shortest interval.
    None for other callbacks."""
    trigger = callback.trigger
    interval: int | None = getattr(trigger, "period_ns", None)
    return interval or getattr(trigger, "min_interval_ns", None)


def _from_model_callback(application: Application, index: int) -> CallbackInfo:
    callback = application.callbacks[index]
    period_ns = interval_ns(callback)
    return CallbackInfo(
        id=callback.id,
        node=application.nodes[callback.node].name,
        kind=callback.kind,
        priority=application.effective_priority(index),
        wcet_ns=callback.wcet_ns,
        period_ns=period_ns,
        subscribes=tuple(callback.inputs),
        publishes=tuple(callback.publishes),
        event=EventTimes.of_model(callback),
    )


def _read_callback(json: JsonValue) -> CallbackInfo:
    def optional(key: str) -> int | None:
        item = json.get(key)
        return None if item.value is None else item.count()

    return CallbackInfo(
        id=json.get("id").text(),
        node=json.get("node").text(),
        kind=json.get("kind").text(),
        priority=json.get("priority").integer(),
        wcet_ns=optional("wcet_ns"),
        period_ns=optional("period_ns"),
        subscribes=tuple(json.get("subscribes").texts()),
        publishes=tuple(json.get("publishes").texts()),
        event=EventTimes.read(json),
    )


def _read_chain(json: JsonValue) -> ChainInfo:
    callbacks = tuple(json.get("callbacks").texts())
    topics = tuple(tuple(item.texts()) for item in json.get("topics").items())
    if len(topics) != len(callbacks):
        json.get("topics").fail(f"{len(callbacks)} lists, one for each callback")
    return ChainInfo(
        id=json.get("id").text(),
        callbacks=callbacks,
        priority=json.get("priority").integer(),
        topics=topics,
    )


def _value(attribute: Any) -> Any:
    """Returns the value of a property or of a method."""
    return attribute() if callable(attribute) else attribute
