# SPDX-License-Identifier: Apache-2.0
"""Makes the files of a generated application: app.yaml and the chain file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from rclrt_experiments.generator.application import GeneratedApplication, Limits, newest_topic
from rclrt_experiments.generator.graph import Kind
from rclrt_experiments.generator.hosts import host_of, hosts_yaml, network_priority


def app_yaml(
    application: GeneratedApplication,
    priorities: Mapping[str, int] | None = None,
    deadlines_ns: Mapping[str, int] | None = None,
) -> str:
    """Returns the text of an app.yaml with the application. `priorities` and `deadlines_ns` are by
    callback id; None: no callback states one. The text needs no escapes: all names are made here,
    except the application's, which the rules restrict to letters and digits."""
    processes = application.processes
    executors = sorted(processes)
    several = len(set(processes.values())) > 1

    def process(executor: int) -> str:
        return f", process: process{processes[executor]}" if several else ""

    def host(executor: int) -> str:
        several = application.rules.host_count > 1
        return f", host: host{host_of(application, executor)}" if several else ""

    lines = [
        "rclrt: 1",
        f"name: {application.rules.name}",
        *(hosts_yaml(application) if application.rules.host_count > 1 else ()),
        "executors:",
        *(
            f"  - {{name: executor{n}{host(n)}{_cpus('cpus', application.cpus_of(n))}"
            f"{_cpus('scheduler_cpus', application.rules.scheduler_cpus)}{process(n)}}}"
            for n in executors
        ),
        "nodes:",
        *_nodes(application),
        "callbacks:",
        *(
            _callback(application, each, priorities or {}, deadlines_ns or {})
            for each in application.order
        ),
    ]
    if application.message_bytes:
        lines += ["topics:", *_topics(application)]
    lines += ["chains:", *_chains(application)]
    if several:
        # A thread of the middleware takes in messages from other processes.
        lines.append("threads: [{name: middleware, policy: fifo, priority: 96}]")
    return "\n".join(lines) + "\n"


def _topics(application: GeneratedApplication) -> Iterator[str]:
    """Yields the topics with their sizes. Over hosts, all topics of the file have one."""
    sizes = dict(application.message_bytes)
    over_hosts = application.rules.host_count > 1
    if over_hosts:
        largest = application.rules.max_message_bytes
        sizes |= {newest_topic(chain): largest for chain in application.newest}
    for name, size in sizes.items():
        priority = network_priority(application, name) if over_hosts else 0
        first = f", network_priority: {priority}" if priority else ""
        yield f"  - {{name: {name}, size_bytes: {size}{first}}}"


def _cpus(key: str, cpus: tuple[int, ...]) -> str:
    return f", {key}: [{', '.join(map(str, cpus))}]" if cpus else ""


def _nodes(application: GeneratedApplication) -> Iterator[str]:
    places = dict.fromkeys(
        sorted(application.places.values(), key=lambda place: (place.chain, place.executor))
    )
    for place in places:
        yield f"  - {{name: {place.node}, executor: executor{place.executor}}}"


def _releases(application: GeneratedApplication, event: int) -> str:
    """Returns the keys for the release times of an event."""
    period_ns, jitter_ns = application.period_ns(event), application.jitter_ns(event)
    shortest_ns, longest_ns = application.min_interval_ns(event), application.max_interval_ns(event)
    if jitter_ns:
        text = f"period_ms: {_ms(period_ns)}, jitter_ms: {_ms(jitter_ns)}"
        stated = shortest_ns > period_ns - jitter_ns
        return text + (f", min_interval_ms: {_ms(shortest_ns)}" if stated else "")
    text = f"min_interval_ms: {_ms(shortest_ns)}"
    return text + (f", max_interval_ms: {_ms(longest_ns)}" if longest_ns > shortest_ns else "")


def _callback(
    application: GeneratedApplication,
    callback: int,
    priorities: Mapping[str, int],
    deadlines_ns: Mapping[str, int],
) -> str:
    steps = list(application.steps(callback))
    taken = [taken for taken, _ in steps if taken is not None]
    sent = [sent for _, sent in steps if sent is not None]
    kind = application.graph.kinds[callback]
    publishes = f"[{', '.join(sent)}]"
    if callback in application.events:
        trigger = f"event: {{{_releases(application, callback)}"
        trigger += f", seed: {application.events[callback]}}}"
    elif kind is Kind.TIMER:
        trigger = f"timer: {{period_ms: {_ms(application.period_ns(callback))}"
        if callback in application.offsets_us:
            trigger += f", offset_ms: {_ms(application.offsets_us[callback] * 1000)}"
        trigger += "}"
    elif kind is Kind.SYNC:
        rules = application.rules
        how = "policy: exact"
        if rules.sync_policy != "exact":
            how = f"window_ms: {_ms(rules.sync_window_us * 1000)}"
        trigger = f"sync: {{topics: [{', '.join(taken)}], {how}}}"
        publishes = _answers(steps)
    elif callback in application.services:
        trigger = f"service: {{name: {application.services[callback].name}}}"
    elif callback in application.served:
        trigger = f"client: {{service: {application.served[callback].name}}}"
    elif len(taken) == 1:
        trigger = f"subscription: {{topic: {taken[0]}}}"
    else:
        trigger = f"subscription: {{topics: [{', '.join(taken)}]}}"
        publishes = _answers(steps)
    name = application.id_of(callback)
    text = f"  - {{id: {name}, node: {application.places[callback].node}, {trigger}"
    text += f", wcet_ms: {_ms(application.execution_ns[callback])}"
    if callback in application.waits_ns:
        text += f", waits_ms: {_ms(application.waits_ns[callback])}"
    if (does := application.workloads.get(callback)) is not None:
        text += f", workload: {{name: {does.name}, iterations: {does.iterations}}}"
    if sent:
        text += f", publishes: {publishes}"
    text += _variables(application, callback)
    if clients := application.calls.get(callback):
        text += f", calls: [{', '.join(map(application.id_of, clients))}]"
    if callback in application.grouped:
        text += ", group: exclusive"
    if name in priorities:
        text += f", priority: {priorities[name]}"
    if name in deadlines_ns:
        text += f", deadline_ms: {_ms(deadlines_ns[name])}"
    return text + "}"


def _variables(application: GeneratedApplication, callback: int) -> str:
    """Returns the keys for what the callback stores and reads."""
    variables = application.variables
    newest = [chain for chain, reader in application.newest.items() if reader == callback]
    stores = [each.name for each in variables if each.writer == callback]
    reads = [each.name for each in variables if each.reader == callback]
    reads += [f"{{topic: {newest_topic(chain)}}}" for chain in newest]
    text = f", stores: [{', '.join(stores)}]" if stores else ""
    return text + (f", reads: [{', '.join(reads)}]" if reads else "")


def _answers(steps: list[tuple[str | None, str | None]]) -> str:
    """Maps the input topic of each chain to the output topic of the same chain."""
    routes = (f"{into}: [{out}]" for into, out in steps if out is not None)
    return f"{{{', '.join(routes)}}}"


def _chains(application: GeneratedApplication) -> Iterator[str]:
    limits_of = dict(zip(application.paths, application.limits_ns, strict=True))
    whole = {path[0].chain: limits for path, limits in limits_of.items() if len(path) == 1}
    for number, chain in enumerate(application.graph.chains):
        ids = ", ".join(map(application.id_of, chain))
        limits = f", {_limits(whole[number])}" if number in whole else ""
        logical = ", let: true" if number in application.logical else ""
        yield (
            f"  - {{id: chain{number}, callbacks: [{ids}], priority: "
            f"{application.priorities[number]}, deadline_ms: "
            f"{_ms(application.deadlines_ns[number])}{logical}{limits}}}"
        )
    for number, (path, limits_ns) in enumerate(limits_of.items()):
        if len(path) > 1:
            ids = ", ".join(map(application.id_of, application.callbacks_of(path)))
            yield f"  - {{id: sampled{number}, callbacks: [{ids}], {_limits(limits_ns)}}}"


def _limits(limits: Limits) -> str:
    return f"max_reaction_ms: {_ms(limits.reaction)}, max_age_ms: {_ms(limits.age)}"


def _ms(time_ns: int) -> str:
    """Formats exact decimal milliseconds."""
    whole, rest = divmod(time_ns, 1_000_000)
    return f"{whole}.{rest:06d}".rstrip("0").rstrip(".") if rest else str(whole)


def chain_file(application: GeneratedApplication) -> str:
    """Returns one object for each chain, with the keys of the thesis's tool."""
    rules = application.rules
    rows = [
        {
            "ID": number,
            "Prio": application.priorities[number],
            "Path": [application.id_of(each) for each in application.graph.chains[number]],
            "Period_us": time.period_us,
            "Utilisation": float(time.utilisation),
            "Random_seed": rules.random_seed,
            "PPE": rules.ppe,
            "Avg_len": float(rules.chain_avg_len),
            "Merge_p": rules.chain_merge_p,
            "Sync_p": rules.chain_sync_p,
            "Variance": float(rules.chain_variance),
            "Executors": rules.executor_count,
        }
        for number, time in enumerate(application.times)
    ]
    return "[\n" + ",\n".join(" " + json.dumps(row) for row in rows) + "\n]\n"
