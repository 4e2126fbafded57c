# SPDX-License-Identifier: Apache-2.0
"""Makes a colcon package of a generated application: a program for each executor, and a launch
file.

No name needs escapes: the generator makes all names in the package, except the application's, which
the rules restrict to letters and digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jinja2
from rclrt_py.errors import BadInput
from rclrt_py.executors import kind_of

from rclrt_experiments.generator.application import GeneratedApplication

CLIENTS = ("rclrt", "rclcpp")


def package_files(
    application: GeneratedApplication, priorities: Mapping[str, int], client: str
) -> Iterator[tuple[str, str]]:
    """Yields the path of each file in the package's directory, and its text."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("rclrt_experiments.generator"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    executors = [
        _executor(application, priorities, number)
        for number in sorted({place.executor for place in application.places.values()})
    ]
    rules = application.rules
    kind = kind_of(rules.executor)
    if client == "rclrt" and kind.orders_executors and len(executors) > 1:
        raise BadInput(
            f"a package cannot have several {kind.name} executors: all programs would have the "
            "same priority, instead of that of their most urgent callback\n"
            "  fix: executor_count: 1, or `rclrt run` on the app.yaml, which sets them"
        )
    if application.variables:
        raise BadInput(
            "a package has no variables, and the links of this application's chains are sampled\n"
            "  fix: sample_p: 0, or `rclrt run` on the app.yaml"
        )
    if application.waits_ns:
        raise BadInput(
            "the callbacks of a package do not wait, and some of this application do\n"
            "  fix: wait_p: 0, or `rclrt run` on the app.yaml"
        )
    values: dict[str, Any] = {
        "package": rules.name.lower(),
        "client": client,
        "executors": executors,
        "chains": application.graph.chains,
        "has_workloads": bool(application.workloads),
        "has_events": bool(application.events),
        "has_services": bool(application.services),
        "logging_mode": rules.logging_mode,
        "executor_class": kind.class_name,
        "sync": {"exact": rules.sync_policy == "exact", "window_ns": rules.sync_window_us * 1000},
    }

    def filled(name: str, **more: Any) -> str:
        return templates.get_template(f"{name}.j2").render(**values, **more)

    yield "package.xml", filled("package.xml")
    yield "CMakeLists.txt", filled("CMakeLists.txt")
    yield f"launch/{values['package']}.launch.py", filled("launch.py")
    yield "src/callbacks.hpp", filled("callbacks.hpp")
    for executor in executors:
        yield f"src/{executor['name']}.cpp", filled(f"{client}.cpp", executor=executor)


def _executor(
    application: GeneratedApplication, priorities: Mapping[str, int], number: int
) -> dict[str, Any]:
    callbacks = [
        _callback(application, priorities, callback)
        for callback in application.order
        if application.places[callback].executor == number
    ]
    nodes = dict.fromkeys(each["node"] for each in callbacks)
    return {
        "name": f"executor{number}",
        "number": number,
        "cpus": application.cpus_of(number),
        "callbacks": callbacks,
        # A client's responses may call the next client, which has the greater number.
        "clients": [each for each in reversed(callbacks) if each["kind"] == "client"],
        "nodes": [
            {"name": node, "grouped": any(c["grouped"] for c in callbacks if c["node"] == node)}
            for node in nodes
        ],
    }


def _callback(
    application: GeneratedApplication, priorities: Mapping[str, int], callback: int
) -> dict[str, Any]:
    graph = application.graph
    chains = graph.chains_of(callback)
    name = application.id_of(callback)
    offset_us = application.offsets_us.get(callback)
    steps = []
    for chain, (taken, sent) in zip(chains, application.steps(callback), strict=True):
        called = [each for each in application.calls.get(callback, ()) if chain in graph.on[each]]
        steps.append(
            {
                "chain": chain,
                "taken": taken,
                "sent": sent,
                "padding": application.message_bytes.get(sent or "", 0),
                "calls": application.id_of(called[0]) if called else None,
            }
        )
    kind = "event" if callback in application.events else graph.kinds[callback].value
    service = application.services.get(callback) or application.served.get(callback)
    if service is not None:
        kind = "service" if service.server == callback else "client"
    return {
        "id": name,
        "number": callback,
        "kind": kind,
        "service": service.name if service is not None else None,
        "node": application.places[callback].node,
        "workload": application.workloads.get(callback),
        "wcet_ns": application.execution_ns[callback],
        "priority": priorities.get(name, max(application.priorities[each] for each in chains)),
        "grouped": callback in application.grouped,
        "steps": steps,
        "period_ns": application.period_ns(callback),
        "min_interval_ns": application.min_interval_ns(callback),
        "max_interval_ns": application.max_interval_ns(callback),
        "jitter_ns": application.jitter_ns(callback),
        "seed": application.events.get(callback),
        "offset_ns": None if offset_us is None else offset_us * 1000,
    }
