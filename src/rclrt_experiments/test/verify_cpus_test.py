# SPDX-License-Identifier: Apache-2.0
"""`rclrt verify --cpus`: executors on several CPUs, or on any number of them."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import median

import pytest
from rclrt_experiments.generator.application import draw_application
from rclrt_experiments.generator.rules import Rules
from rclrt_experiments.verification.search import search
from rclrt_experiments.verification.verify import Attack, attack_seed, varied
from rclrt_py.native import analysis, load_application
from rclrt_py.testing.command import finished

ROOT = Path(__file__).resolve().parents[3]


def test_executors_on_several_cpus_are_drawn_and_attacked() -> None:
    sharing = proved = without = 0
    for seed in range(20):
        rules = varied(replace(Rules(), random_seed=seed), 4)
        own = [set(draw_application(rules).cpus_of(n)) for n in range(rules.executor_count)]
        assert set().union(*own) <= set(range(4))
        assert len(rules.cpus) in (0, 2, 3, 4)
        without += not rules.cpus
        sharing += any(len(a) > 1 and a & b for n, a in enumerate(own) for b in own[:n])
        executors = ["preemptive", "wait_set:threads=3"]
        outcomes = attack_seed(Rules(), seed, executors, Attack(instances=2000), True, 4)
        for outcome in (outcomes or {}).values():
            assert outcome.violation is None
            assert outcome.difference == ""
            proved += outcome.proved
    assert sharing > 1
    assert without > 1
    assert proved > 20


TWO_GROUPS = """
rclrt: 1
name: pairs
executors: [{name: main}]
nodes: [{name: n, executor: main}]
callbacks:
  - {id: grasp, node: n, timer: {period_ms: 40}, wcet_ms: 1, publishes: [go], group: left,
     priority: 7}
  - {id: hold, node: n, subscription: {topic: go}, wcet_ms: 1, group: right, priority: 7}
  - {id: tidy, node: n, timer: {period_ms: 40}, wcet_ms: 7, group: left}
  - {id: sort, node: n, timer: {period_ms: 40}, wcet_ms: 7, group: right}
chains: [{id: grasp, callbacks: [grasp, hold], priority: 7, deadline_ms: 9}]
"""


def test_executors_that_state_no_cpus_are_simulated_on_several_numbers_of_them(
    tmp_path: Path,
) -> None:
    """On one CPU, either tidy or sort delays the chain: 9 ms. On two, both may."""
    path = tmp_path / "app.yaml"
    path.write_text(TWO_GROUPS)
    application = load_application(path)

    def found(cpus: int) -> bool:
        overheads = analysis().Overheads(cpus=cpus)
        return search(application, "preemptive", [True], overheads, 40_000).examples[0] is not None

    assert not found(1)
    assert found(2)
    assert found(0)
    stated = tmp_path / "stated.yaml"
    stated.write_text(TWO_GROUPS.replace("name: main}]\nn", "name: main, cpus: [0]}]\nn"))
    application = load_application(stated)
    assert not found(2)


def test_the_worst_bounds_are_named_with_their_longest_term() -> None:
    arguments = ("--count", "12", "--cpus", "4", "--executors", "preemptive", "--worst", "5")
    done = finished("verify", *arguments, "--instances", "500")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    begin = lines.index("preemptive: the 5 largest ratios, by the longest term of the bound:")
    assert sum(int(line.split()[-1]) for line in lines[begin + 1 : -6]) == 5
    ratios = [float(line.split()[0]) for line in lines[-5:]]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[-1] >= 1
    assert {line.split()[1] for line in lines[-5:]} == {"-"}
    done = finished("verify", *arguments, "--instances", "500", "--json")
    answer = json.loads(done.stdout)
    (worst,) = answer["worst"]
    assert [f"{each['ratio']:.2f}" for each in worst["bounds"]] == [
        line.split()[0] for line in lines[-5:]
    ]
    assert sum(each["bounds"] for each in worst["causes"]) == 5
    for each in worst["bounds"]:
        assert 0 < each["share"] <= 1
    by_cpus = answer["executors"][0]["by_cpus"]
    assert {each["cpus"] for each in by_cpus} <= {0, 2, 3, 4}
    chains = sum(each["statistics"]["chains"] for each in by_cpus)
    assert chains == answer["executors"][0]["below_load"]["chains"]


def test_the_pages_on_tightness_are_made_of_the_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    module, places = import_module("publish_tightness"), import_module("results_page")
    monkeypatch.setattr(places, "RESULTS", tmp_path)
    page, other = tmp_path / "several-cpus.md", tmp_path / "one-cpu.md"
    marks = (places.begin("rclrt verify", "publish_tightness.py"), places.end("rclrt verify"))
    for each in (page, other):
        each.write_text("Before.\n" + "\n\n".join(marks) + "\nBehind.\n")
    drawn = ("--count", "8", "--cpus", "4", "--worst", "3", "--instances", "500")
    arguments = (*drawn, "--again", "5000")
    done = finished("verify", *arguments, "--executors", "preemptive,edf", "--json")
    answer = tmp_path / "answer.json"
    answer.write_text(done.stdout)
    assert module.main([page.name, str(answer)]) == 0
    text = page.read_text()
    assert text.startswith("Before.\n")
    assert text.endswith("Behind.\n")
    assert "(seeds 0 to 7, " in text
    found = json.loads(done.stdout)["worst"][0]["bounds"]
    worst = found[0]
    ratios = f"{worst['ratio']:.2f} | {worst['longer']:.2f}"
    assert f"| {worst['chain']} | {ratios} | {worst['cause']} |" in text
    own = [each for each in found if each["cause"] == worst["cause"]]
    before = median(each["ratio"] for each in own)
    after = median(each["longer"] for each in own)
    row = f"| {worst['cause']} | {len(own)} | {before:.2f} | {after:.2f} |"
    assert f"| `preemptive` {row}" in text
    assert "The aim for `preemptive` is a median of at most 1.3 and a 95th percentile" in text
    assert module.main([other.name, str(answer)]) == 2
    assert "one-cpu.md: the output of verify is with --cpus" in capsys.readouterr().err
    drawn = ("--count", "8", "--worst", "3", "--instances", "500", "--executors", "preemptive,edf")
    done = finished("verify", *drawn, "--json")
    answer.write_text(done.stdout)
    assert module.main([page.name, str(answer)]) == 2
    assert module.main([other.name, str(answer)]) == 0
    below = json.loads(done.stdout)["executors"][1]["below_load"]
    assert f"| `edf` | {below['chains']} | " in other.read_text()
    assert "The aim for every executor is a 95th percentile of at most 3.0." in other.read_text()
    answer.write_text("{}")
    assert module.main([page.name, str(answer)]) == 2
    assert "executors is missing" in capsys.readouterr().err
    for wrong in ([], [str(answer)], ["README.md", str(answer)]):
        assert module.main(wrong) == 2
    assert page.read_text() == text


def test_the_worst_bounds_are_searched_again() -> None:
    """With few instances, the first search finds less than the second one."""
    arguments = ("--count", "12", "--cpus", "4", "--executors", "preemptive", "--instances", "300")
    done = finished("verify", *arguments, "--worst", "20", "--again", "20000", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    bounds = json.loads(done.stdout)["worst"][0]["bounds"]
    assert len(bounds) == 20
    assert all(1 <= each["longer"] <= each["ratio"] for each in bounds)
    fewer = [each for each in bounds if each["longer"] < each["ratio"]]
    explained = [each for each in fewer if 2 * (each["longer"] - 1) <= each["ratio"] - 1]
    assert explained
    assert [each for each in bounds if each["cause"].startswith("the search")] == explained
    done = finished("verify", *arguments, "--again", "20")
    assert done.returncode == 2
    assert "--again: it searches the bounds of --worst again; add --worst N" in done.stderr
