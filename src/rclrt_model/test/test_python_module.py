# SPDX-License-Identifier: Apache-2.0
"""The Python module rclrt_model: values, immutability, errors and types."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from broken_applications import broken_applications

import rclrt_model

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]
EXAMPLE = REPOSITORY / "examples" / "autonomous_vehicle" / "app.yaml"

TEXT = """
rclrt: 1
name: demo
description: a text
executors: [{name: fast, cpus: [1, 3]}]
nodes: [{name: lidar, namespace: /front}]
callbacks:
  - {id: scan, node: lidar, timer: {period_ms: 50, offset_ms: 0.5, overrun: skip}, wcet_ms: 2.25,
     publishes: [points, raw]}
  - {id: brake, node: lidar, subscription: {topic: points, depth: 3, reliability: best_effort,
     intra_process: true}, wcet_ms: 1, group: control, priority: 7, deadline_ms: 4.5,
     publishes: [done]}
  - {id: join, node: lidar, sync: {topics: [raw, done], window_ms: 5}, wcet_ms: 1}
topics: [{name: points, size_bytes: 100}]
chains: [{id: obstacle, callbacks: [scan, brake], priority: 2, deadline_ms: 49}]
threads: [{name: middleware, policy: rr, priority: 50, cpus: [0]}]
"""


@pytest.fixture
def app(tmp_path: Path) -> rclrt_model.Application:
    file = tmp_path / "app.yaml"
    file.write_text(TEXT)
    return rclrt_model.load(file)


def test_every_field_has_the_value_of_the_file(app: rclrt_model.Application) -> None:
    assert (app.name, app.description) == ("demo", "a text")
    assert [(e.name, e.cpus) for e in app.executors] == [("fast", (1, 3))]
    assert [(n.name, n.name_space, n.executor) for n in app.nodes] == [("lidar", "/front", 0)]
    assert [(c.id, c.node, c.wcet_ns, c.publishes, c.group, c.priority) for c in app.callbacks] == [
        ("scan", 0, 2_250_000, ("points", "raw"), None, None),
        ("brake", 0, 1_000_000, ("done",), "control", 7),
        ("join", 0, 1_000_000, (), None, None),
    ]
    assert [c.deadline_ns for c in app.callbacks] == [None, 4_500_000, None]
    assert [(t.name, t.size_bytes) for t in app.topics] == [
        ("points", 100),
        ("raw", 0),
        ("done", 0),
    ]
    assert [(c.id, c.callbacks, c.priority, c.deadline_ns) for c in app.chains] == [
        ("obstacle", (0, 1), 2, 49_000_000)
    ]
    assert [(t.name, t.policy, t.priority, t.cpus, t.nice) for t in app.threads] == [
        ("middleware", "rr", 50, (0,), None)
    ]


def test_a_trigger_is_an_object_of_its_kind(app: rclrt_model.Application) -> None:
    timer, subscription, sync = (callback.trigger for callback in app.callbacks)
    assert isinstance(timer, rclrt_model.Timer)
    assert (timer.period_ns, timer.offset_ns, timer.overrun) == (50_000_000, 500_000, "skip")
    assert isinstance(subscription, rclrt_model.Subscription)
    assert (subscription.topics, subscription.depth) == (("points",), 3)
    assert subscription.reliability == "best_effort"
    assert subscription.intra_process is True
    assert isinstance(sync, rclrt_model.Sync)
    assert (sync.topics, sync.policy) == (("raw", "done"), "approximate")
    assert (sync.window_ns, sync.depth) == (5_000_000, 10)


def test_kinds_and_inputs_of_callbacks(app: rclrt_model.Application) -> None:
    assert [callback.kind for callback in app.callbacks] == ["timer", "subscription", "sync"]
    assert [callback.inputs for callback in app.callbacks] == [(), ("points",), ("raw", "done")]


def test_what_follows_from_the_values(app: rclrt_model.Application) -> None:
    assert [app.effective_priority(i) for i in range(3)] == [2, 7, 0]
    assert [app.successors(i) for i in range(3)] == [(1, 2), (2,), ()]
    assert app.rates() == (20.0, 20.0, 20.0)
    assert app.utilisation() == pytest.approx((2.25 + 1 + 1) / 50)
    assert app.period_ns(app.chains[0]) == 50_000_000
    assert app.hyperperiod_ns() == 50_000_000


def test_a_shared_callback_shows_its_routes_and_by_which_topic_a_chain_comes(
    tmp_path: Path,
) -> None:
    file = tmp_path / "shared.yaml"
    file.write_text("""
rclrt: 1
name: shared
nodes: [{name: n}]
callbacks:
  - {id: a, node: n, timer: {period_ms: 50}, wcet_ms: 1, publishes: [x]}
  - {id: b, node: n, timer: {period_ms: 50}, wcet_ms: 1, publishes: [y]}
  - {id: m, node: n, subscription: {topics: [x, y]}, wcet_ms: 1, publishes: {x: [p], y: [q, p]}}
  - {id: c, node: n, subscription: {topic: q}, wcet_ms: 1}
chains: [{id: slow, callbacks: [b, m, c], priority: 2}]
""")
    app = rclrt_model.load(file)
    assert app.callbacks[2].publishes == ("p", "q")
    assert app.callbacks[2].routes == ((0,), (0, 1))
    assert app.callbacks[0].routes == ()
    assert app.entries(app.chains[0]) == ((), (1,), (0,))


def test_services_clients_and_calls_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "service.yaml"
    file.write_text("""
rclrt: 1
name: service
nodes: [{name: n}]
callbacks:
  - {id: ask, node: n, timer: {period_ms: 50}, wcet_ms: 1, calls: [answer]}
  - {id: plan, node: n, service: {name: route}, wcet_ms: 1}
  - {id: answer, node: n, client: {service: route, depth: 3}, wcet_ms: 1}
chains: [{id: x, callbacks: [ask, plan, answer], priority: 2}]
""")
    app = rclrt_model.load(file)
    assert [callback.kind for callback in app.callbacks] == ["timer", "service", "client"]
    assert [callback.calls for callback in app.callbacks] == [("answer",), (), ()]
    client = app.callbacks[2].trigger
    assert isinstance(client, rclrt_model.Subscription)
    assert (client.role, client.service, client.depth) == ("client", "route", 3)
    file.write_text(rclrt_model.to_yaml(app))
    assert rclrt_model.load(file) == app


def test_an_index_without_a_callback_is_an_index_error(app: rclrt_model.Application) -> None:
    with pytest.raises(IndexError, match="there is no callback 3; the application has 3"):
        app.successors(3)
    with pytest.raises(TypeError):
        app.effective_priority(-1)


def test_nothing_can_be_changed(app: rclrt_model.Application) -> None:
    for thing, field in [(app, "name"), (app.callbacks[0], "wcet_ns"), (app.chains[0], "id")]:
        with pytest.raises(AttributeError):
            setattr(thing, field, getattr(thing, field))


def test_objects_are_compared_by_value(app: rclrt_model.Application) -> None:
    again = rclrt_model.load(EXAMPLE)
    assert again == rclrt_model.load(str(EXAMPLE))
    assert again != app
    assert again.callbacks[0] == rclrt_model.load(EXAMPLE).callbacks[0]
    assert again.callbacks[0] != again.callbacks[1]


def test_objects_show_their_values(app: rclrt_model.Application) -> None:
    assert repr(app.executors[0]) == (
        "Executor(name='fast', cpus=(1, 3), scheduler_cpus=(), process='', top_priority=None,"
        " host=None)"
    )
    assert repr(app).startswith("Application(name='demo', description='a text', executors=(Exec")


def test_hosts_links_and_the_messages_between_them(tmp_path: Path) -> None:
    case = broken_applications()["link_latency_backwards"]
    file = case.write(tmp_path)
    file.write_text(file.read_text().replace("min_latency_ms: 0.2", "min_latency_ms: 0.05"))
    app = rclrt_model.load(file)
    assert [(host.name, host.address, host.cpus, host.clock_error_ns) for host in app.hosts] == [
        ("eye", "10.0.0.1", (0, 1), 500_000),
        ("hand", "", (), None),
    ]
    assert [executor.host for executor in app.executors] == [0, 1]
    (link,) = app.links
    assert (link.between, link.rate_kbit, link.order, link.shaper) == (
        (0, 1),
        100_000,
        "fifo",
        None,
    )
    assert (link.latency_ns, link.min_latency_ns) == (100_000, 50_000)
    assert link.bytes_on_line(20_000) == 20_004 + 15 * 150
    (message,) = rclrt_model.link_messages(app)
    assert (message.from_, message.to, message.bytes, message.priority) == (0, 1, 20_000, 1)
    assert message.way is not None
    assert (message.way.link, message.way.from_, message.way.to) == (0, 0, 1)
    assert app.host_of(1) == 1


def test_parts_outlive_the_application() -> None:
    callbacks = rclrt_model.load(EXAMPLE).callbacks
    assert callbacks[0].id == "scan"


def test_a_broken_file_raises_with_every_error(tmp_path: Path) -> None:
    case = broken_applications()["executor_cpus"]
    file = case.write(tmp_path)
    with pytest.raises(rclrt_model.ModelError) as caught:
        rclrt_model.load(file)
    assert str(caught.value).splitlines() == [f"{file}:{error}" for error in case.errors]
    assert isinstance(caught.value, ValueError)


def test_a_missing_file_raises_the_same_error(tmp_path: Path) -> None:
    with pytest.raises(rclrt_model.ModelError, match="No such file or directory"):
        rclrt_model.load(tmp_path / "nowhere.yaml")


def test_the_stubs_describe_the_module(tmp_path: Path) -> None:
    """mypy compares the stubs with the module at run time."""
    result = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--concise", "rclrt_model"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    # Every pybind11 class has pybind11's metaclass, and an __init__ that refuses to construct.
    expected = ("metaclass differs", ".__init__ is inconsistent")
    differences = [
        line for line in result.stdout.splitlines() if not any(text in line for text in expected)
    ]
    assert differences == []
    assert result.stderr == ""


def test_strict_type_checking_of_a_user_passes_and_finds_a_wrong_use(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text(
        "import rclrt_model\n"
        "app = rclrt_model.load('app.yaml')\n"
        "periods: list[int] = [app.period_ns(chain) for chain in app.chains]\n"
        "trigger = app.callbacks[0].trigger\n"
        "if isinstance(trigger, rclrt_model.Sync):\n"
        "    first: str = trigger.topics[0]\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(user)]
    package_root = str(Path(rclrt_model.__file__).parents[1])
    environment = {"MYPYPATH": package_root, "PATH": "/usr/bin:/bin"}
    environment["PYTHONPATH"] = ":".join(path for path in sys.path if path)
    good = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert good.returncode == 0, good.stdout + good.stderr
    with user.open("a") as more:
        more.write("wrong: str = app.chains[0].deadline_ns\n")
    bad = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "Incompatible types in assignment" in bad.stdout


def test_the_samples_of_the_documentation_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reference = HERE.parents[2] / "docs/reference/app-yaml.md"
    if not reference.exists():
        pytest.skip("the package was taken out of its repository")
    (application, priorities), (sample,) = (
        re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)
        for page, language in ((reference, "yaml"), (HERE.parent / "README.md", "python"))
    )
    (tmp_path / "app.yaml").write_text(application)
    (tmp_path / "priorities.yaml").write_text(priorities)
    monkeypatch.chdir(tmp_path)
    assert rclrt_model.load("app.yaml", "priorities.yaml").callbacks[0].priority == 3
    exec(compile(sample, "README.md", "exec"), {})
    output = capsys.readouterr().out
    assert output == (
        "obstacle starts with scan every 50000000 ns\n"
        "contact starts with bumper every 20000000 ns\nutilisation 21%\n"
    )


EVERY_KEY = """
rclrt: 1
name: all
description: everything
hosts:
  - {name: here, cpus: [0, 1], address: 10.0.0.1, clock_error_ms: 0.5}
  - {name: there}
links:
  - {name: cable, between: [here, there], rate_kbit: 1000,
     shaper: {rate_kbit: 500, burst_bytes: 9000},
     latency_ms: 0.5, min_latency_ms: 0.25, access_ms: 1, order: priority, mtu_bytes: 8000,
     header_bytes: 90, framing_bytes: 14,
     cross_traffic: [{from: here, rate_kbit: 10, burst_bytes: 5, priority: 3}]}
executors:
  - {name: one, host: here, cpus: [1], scheduler_cpus: [0], process: far}
  - {name: two, host: there, top_priority: 80}
nodes: [{name: n, namespace: /a, executor: two}]
callbacks:
  - {id: t, node: n, timer: {period_ms: 5, offset_ms: 3, overrun: skip}, wcet_ms: 0.5,
     publishes: [/x, /y], group: g, priority: 4, overload: keep_last, deadline_ms: 7,
     workload: {name: matrix, iterations: 12}, stores: [v], waits_ms: 2}
  - {id: e, node: n, sync: {topics: [/x, /y], policy: exact, depth: 3}, wcet_ms: 1,
     observed: {n: 9, p50_ms: 0.25, p99_ms: 0.5, max_ms: 1}}
  - {id: s, node: n, sync: {topics: [/x, /y], window_ms: 2.5}, wcet_ms: 1, publishes: [/o]}
  - {id: r, node: n, wcet_ms: 1,
     subscription: {topic: /o, depth: 1, reliability: best_effort, intra_process: true}}
  - {id: b, node: n, wcet_ms: 1, calls: [a],
     event: {min_interval_ms: 2, max_interval_ms: 3, offset_ms: 1, depth: 3, seed: 4}}
  - {id: f, node: n, wcet_ms: 1, event: {period_ms: 30, jitter_ms: 10}, reads: [v]}
  - {id: q, node: n, wcet_ms: 1, service: {name: /plan, depth: 2}}
  - {id: a, node: n, wcet_ms: 1, client: {service: /plan, depth: 2}}
topics: [{name: /y, size_bytes: 5, network_priority: 2}]
chains:
  - id: c
    callbacks: [t, s]
    priority: 9
    deadline_ms: 12
    let: true
    max_reaction_ms: 30
    max_age_ms: 20
threads:
  - {name: middleware, policy: %s}
"""


def keys_of_the_schema(schema: Any) -> set[str]:
    """Returns every key that app.yaml may have, at any place."""
    if isinstance(schema, list):
        return set().union(*map(keys_of_the_schema, schema))
    if not isinstance(schema, dict):
        return set()
    own = set(schema.get("properties", {}))
    return own.union(*map(keys_of_the_schema, schema.values()))


def test_every_key_of_the_schema_is_written(tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    written = ""
    for policy in (
        "other, nice: 3, cpus: [1]",
        "fifo, priority: 5",
        "deadline, runtime_ms: 1, period_ms: 9, deadline_ms: 5",
    ):
        file.write_text(EVERY_KEY % policy)
        application = rclrt_model.load(file)
        text = rclrt_model.to_yaml(application)
        written += text
        file.write_text(text)
        assert rclrt_model.load(file) == application
    schema = json.loads((REPOSITORY / "schemas" / "app.schema.json").read_text())
    missing = {key for key in keys_of_the_schema(schema) if f"{key}:" not in written}
    assert missing == set()


def test_any_yaml_becomes_plain_values(tmp_path: Path) -> None:
    file = tmp_path / "any.yaml"
    file.write_text('{a: 1, b: 2.5, c: "3", d: [true, null, word], e: {f: -4}, g: inf}')
    assert rclrt_model.read_yaml(file) == {
        "a": 1, "b": 2.5, "c": "3", "d": [True, None, "word"], "e": {"f": -4}, "g": "inf",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["a: 1\na: 2", "a: &x 1", "a: !!str 1", "[1", "{a: *x}"])
def test_yaml_that_is_not_plain_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(rclrt_model.ModelError, match=r"bad\.yaml:\d+:\d+: "):
        rclrt_model.read_yaml(file)


def test_a_yaml_file_that_is_missing_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(rclrt_model.ModelError, match="expected a readable experiment"):
        rclrt_model.read_yaml(tmp_path / "none", "experiment")


def test_a_chain_that_samples_has_segments_and_limits(tmp_path: Path) -> None:
    app = rclrt_model.load(REPOSITORY / "examples" / "eye_to_wheel" / "app.yaml")
    assert [callback.stores for callback in app.callbacks if callback.stores] == [
        ("seen",),
        ("followed",),
    ]
    assert [callback.reads for callback in app.callbacks if callback.reads] == [
        ("seen",),
        ("followed",),
    ]
    (chain,) = app.cause_effect_chains
    assert chain.id == "eye_to_wheel"
    assert [(app.chains[each.chain].id, each.entry) for each in chain.segments] == [
        ("eye_to_wheel_1", 0),
        ("eye_to_wheel_2", 0),
        ("loop", 0),
    ]
    assert (chain.max_reaction_ns, chain.max_age_ns) == (100_000_000, 130_000_000)
    copy = tmp_path / "copy.yaml"
    copy.write_text(rclrt_model.to_yaml(app))
    assert rclrt_model.load(copy).cause_effect_chains == app.cause_effect_chains
