# SPDX-License-Identifier: Apache-2.0
"""`rclrt verify` finds errors in wrong bounds, and none in ours."""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from rclrt_experiments.generator.application import draw_application
from rclrt_experiments.generator.feasibility import feasible_priorities, load
from rclrt_experiments.generator.rules import Rules
from rclrt_experiments.verification import verify_command
from rclrt_experiments.verification.again import AttackOnChain
from rclrt_experiments.verification.verify import Attack, Judge, attack_seed
from rclrt_experiments.verification.violation import AGE, REACTION, RESPONSE, Violation
from rclrt_py.executors import EXECUTORS
from rclrt_py.native import analysis, load_application
from rclrt_py.testing.command import command
from rclrt_py.testing.waiting import GENEROUS_S, wait_for

if TYPE_CHECKING:
    from rclrt_analysis import Machine
    from rclrt_model import Application


def judgement(application: Application, bounds: Sequence[int | None]) -> SimpleNamespace:
    """Returns verdicts by these bounds, without conditions. Cause-effect chains have no bounds."""
    none = SimpleNamespace(reaction_ns=None, age_ns=None, assumptions=())
    return SimpleNamespace(
        cause_effect_chains=[none] * len(application.cause_effect_chains),
        chains=[
            SimpleNamespace(
                bound_ns=bound,
                assumptions=(),
                verdict="unknown" if bound is None or bound > chain.deadline_ns else "proved",
            )
            for chain, bound in zip(application.chains, bounds, strict=True)
        ],
    )


def too_low(application: Application, executor: str, machine: Machine) -> SimpleNamespace:
    """Returns verdicts by bounds that are a tenth below the proved ones."""
    bounds = [
        None if bound.bound_ns is None or bound.assumptions else bound.bound_ns * 9 // 10
        for bound in analysis().judge(application, executor, machine).chains
    ]
    return judgement(application, bounds)


def alone(application: Application, executor: str, machine: Machine) -> SimpleNamespace:
    """Returns verdicts as if there were no other chains: by the work of the chain's own
    callbacks."""
    work = [
        sum(application.callbacks[each].wcet_ns for each in chain.callbacks)
        for chain in application.chains
    ]
    return judgement(application, work)


def too_low_sampling(what: str) -> Judge:
    """Returns a function with bounds of cause-effect chains, of which the reaction time or the data
    age (`what`) is a fifth below ours. It has no bounds of chains."""

    def lower(bound_ns: int | None, own: str) -> int | None:
        return bound_ns * 4 // 5 if bound_ns is not None and own == what else bound_ns

    def judged(application: Application, executor: str, machine: Machine) -> SimpleNamespace:
        result = judgement(application, [None] * len(application.chains))
        result.cause_effect_chains = [
            SimpleNamespace(
                reaction_ns=lower(bound.reaction_ns, REACTION),
                age_ns=lower(bound.age_ns, AGE),
                assumptions=bound.assumptions,
            )
            for bound in analysis().judge(application, executor, machine).cause_effect_chains
        ]
        return result

    return judged


LOGICAL = Rules(
    chain_count=1, chain_avg_len=Decimal(2), sample_p=1.0, let_p=1.0, util_total=Decimal("0.3"),
    min_period_us=2_000, max_period_us=20_000, period_step_us=1_000,
)  # fmt: skip


@dataclass(frozen=True)
class TooLow(Attack):
    on_machines: bool = False
    judge: Judge | None = too_low


def replayed(violation: Violation, directory: Path) -> int:
    """Returns the longest time in the schedule of a violation, from the files that are written."""
    verify_command._write(directory, violation)
    application = load_application(directory / "app.yaml")
    example = analysis().load_counter_example(directory / "counter_example.yaml", application)
    found: int = analysis().replay(application, example)
    return found


def verify(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("verify", *arguments),
        capture_output=True, text=True, timeout=GENEROUS_S, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("executor", EXECUTORS)
def test_bounds_that_are_a_tenth_too_low_are_found_out(executor: str) -> None:
    attacked = found = 0
    for seed in range(30):
        outcomes = attack_seed(Rules(), seed, [executor], TooLow(), vary=True)
        assert outcomes is not None
        attacked += outcomes[executor].proved > 0
        violation = outcomes[executor].violation
        if violation is not None:
            found += 1
            assert violation.response_ns > violation.bound_ns
            assert len(violation.application.order) == 1  # one callback is enough to show it
    assert found > attacked / 2


def test_a_search_for_one_chain_states_its_violation_as_the_search_for_all_does(
    tmp_path: Path,
) -> None:
    application = draw_application(Rules(random_seed=1))
    priorities = feasible_priorities(application)
    model = load(application, priorities)
    machine = analysis().Machine(overheads=analysis().Overheads())
    bounds = [each.bound_ns for each in analysis().judge(model, "preemptive", machine).chains]
    chain, low = model.chains[bounds.index(max(bounds))].id, max(bounds) * 9 // 10
    attack = AttackOnChain(instances=20_000, chain=chain, bound_ns=low)
    violation = attack.outcome(application, priorities, "preemptive").violation
    assert violation is not None
    assert (violation.chain, violation.bound_ns) == (chain, low)
    assert violation.what == RESPONSE
    assert replayed(violation, tmp_path / "found") == violation.response_ns > violation.bound_ns


@pytest.mark.parametrize(("executor", "what"), [("preemptive", REACTION), ("wait_set", AGE)])
def test_reaction_times_and_ages_above_bounds_that_are_too_low_are_found_out(
    executor: str, what: str, tmp_path: Path
) -> None:
    attacked = found = 0
    segments = []
    attack = Attack(instances=10_000, on_machines=False, judge=too_low_sampling(what))
    for seed in range(25):
        outcomes = attack_seed(Rules(), seed, [executor], attack, vary=True)
        assert outcomes is not None
        attacked += outcomes[executor].sampling.attacked > 0
        violation = outcomes[executor].violation
        if violation is not None:
            found += 1
            assert violation.what == what
            assert violation.response_ns > violation.bound_ns
            assert replayed(violation, tmp_path / str(seed)) >= violation.response_ns
            (path,) = violation.application.paths  # the others are left out
            segments.append(len(path))
    assert found > attacked / 2 > 3
    assert segments.count(2) > found / 2  # two are enough to show most


def at_its_end(application: Application, executor: str, machine: Machine) -> SimpleNamespace:
    """Returns bounds of cause-effect chains as if the values of each segment counted from its end,
    also with logical execution time. It has no bounds of chains."""
    result = judgement(application, [None] * len(application.chains))
    found = analysis().judge(application, executor, machine)
    for number, bound in enumerate(found.cause_effect_chains):
        segments = application.cause_effect_chains[number].segments
        if bound.reaction_ns is not None:
            less = sum(
                term.age_ns - found.chains[segments[term.segment].chain].bound_ns
                for term in bound.why
                if term.kind == "logical"
            )
            result.cause_effect_chains[number] = SimpleNamespace(
                reaction_ns=bound.reaction_ns - less,
                age_ns=bound.age_ns - less,
                assumptions=bound.assumptions,
            )
    return result


def test_values_that_move_at_the_deadline_are_above_bounds_that_count_from_the_end(
    tmp_path: Path,
) -> None:
    rules = replace(
        LOGICAL, chain_count=2, chain_avg_len=Decimal(3), min_deadline=Decimal("0.5"),
        max_deadline=Decimal("1.5"),
    )  # fmt: skip
    attack = Attack(instances=10_000, on_machines=False, judge=at_its_end)
    for seed in range(8):
        outcomes = attack_seed(rules, seed, ["preemptive"], attack, vary=False)
        assert outcomes is not None
        assert outcomes["preemptive"].sampling.logical == 2
        violation = outcomes["preemptive"].violation
        assert violation is not None
        assert violation.what in (REACTION, AGE)
        assert len(violation.application.logical) == 1  # one is enough to show it
        assert replayed(violation, tmp_path / str(seed)) >= violation.response_ns
        assert violation.response_ns > violation.bound_ns


def test_the_bounds_of_paths_with_logical_execution_time_alone_are_reached() -> None:
    """No step of such a path depends on execution times. A release a nanosecond before a value is
    stored waits for the next one, so a nanosecond for each link is missing."""
    for executor in ("preemptive", "wait_set", "edf"):
        ratios: list[float] = []
        for seed in range(10):
            attack = Attack(instances=10_000, on_machines=False)
            outcomes = attack_seed(LOGICAL, seed, [executor], attack, vary=False)
            assert outcomes is not None
            sampling = outcomes[executor].sampling
            assert sampling.logical == sampling.attacked
            ratios += (*sampling.reaction, *sampling.age)
        assert len(ratios) >= 10
        assert 1 <= max(ratios) < 1.000001


def test_chains_back_and_forth_are_drawn_and_attacked() -> None:
    proved = 0
    for seed in range(12):
        attack = Attack(instances=1000)
        outcomes = attack_seed(Rules(), seed, ["preemptive"], attack, True, across=True)
        if outcomes is not None:
            assert outcomes["preemptive"].violation is None
            proved += outcomes["preemptive"].proved
    assert proved > 5


def test_callbacks_that_wait_are_drawn_and_attacked() -> None:
    proved = 0
    attack = Attack(instances=2000)
    for seed in range(12):
        outcomes = attack_seed(Rules(), seed, EXECUTORS, attack, True, waits=True)
        for outcome in (outcomes or {}).values():
            assert outcome.violation is None
            proved += outcome.proved
    assert proved > 50


def without_waits(application: Application, executor: str, machine: Machine) -> SimpleNamespace:
    """Returns verdicts by bounds that do not count the time for which callbacks wait."""
    bounds = analysis().judge(application, executor, machine).chains
    return judgement(
        application,
        [
            None
            if bound.bound_ns is None or bound.assumptions
            else bound.bound_ns - sum(term.total_ns for term in bound.why if term.kind == "waits")
            for bound in bounds
        ],
    )


def test_bounds_that_do_not_count_waits_are_found_out() -> None:
    attacked = found = 0
    attack = Attack(instances=10_000, on_machines=False, judge=without_waits)
    for seed in range(12):
        outcomes = attack_seed(Rules(), seed, ["preemptive"], attack, True, waits=True)
        assert outcomes is not None
        violation = outcomes["preemptive"].violation
        attacked += outcomes["preemptive"].proved > 0
        if violation is not None:
            found += 1
            assert len(violation.application.waits_ns) == 1
    assert found > attacked / 4 > 0


def test_what_shows_a_violation_has_nothing_to_leave_out() -> None:
    """Two chains are needed to show that one is in the way of the other."""
    sizes = []
    attack = Attack(on_machines=False, judge=alone)
    for seed in range(12):
        outcomes = attack_seed(Rules(), seed, ["preemptive"], attack, vary=True)
        assert outcomes is not None
        violation = outcomes["preemptive"].violation
        if violation is not None:
            sizes.append(len(violation.application.order))
            assert len(violation.application.graph.chains) <= 2
    assert sizes.count(2) > 3


def test_what_violates_a_bound_is_written_so_that_it_can_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verify_command, "Attack", TooLow)
    parser = argparse.ArgumentParser()
    verify_command.add_arguments(parser)
    out = tmp_path / "out"
    code = verify_command.run(parser.parse_args(["--count", "4", "--jobs", "2", "-o", str(out)]))
    said = capsys.readouterr().out
    assert code == 3
    assert re.search(r"violation0: seed \d under \w+: chain\d took [\d.]+ ms, and its bound", said)
    own = out / "violation0"
    done = subprocess.run(
        [
            *command("simulate", own / "app.yaml"),
            *("--replay", own / "counter_example.yaml", "--out", tmp_path / "seen"),
        ],
        capture_output=True, text=True, timeout=GENEROUS_S, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    assert "missed 1" in done.stdout + done.stderr


def test_our_bounds_hold_and_the_table_says_how_many_were_attacked() -> None:
    done = verify("--count", "40", "--executors", ",".join(EXECUTORS), "--seed", "1000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    count = len(EXECUTORS)
    rows = lines[2 : 2 + count]
    assert tuple(row[0] for row in rows) == EXECUTORS
    for _, chains, proved, sampled, attacked, logical, violated, differing in rows:
        assert int(chains) >= int(proved) > 40
        assert int(sampled) >= int(attacked) > 5
        assert int(attacked) > int(logical) > 0
        assert int(violated) == 0
        assert int(differing) == 0
    rows = lines[5 + count : 5 + 2 * count]
    assert tuple(row[0] for row in rows) == EXECUTORS
    for _, chains, without, median, p95, largest in rows:
        assert int(chains) > 40
        assert float(without.removesuffix("%")) <= 10
        assert 1 <= float(median) <= float(p95) <= float(largest)
        assert float(median) < 2
    rows = lines[-count:]
    assert tuple(row[0] for row in rows) == EXECUTORS
    for _, chains, _without, *ratios in rows:
        assert int(chains) > 5
        for found in (ratios[:3], ratios[3:]):
            numbers = [float(each) for each in found]
            assert 1 <= numbers[0] <= numbers[1] <= numbers[2]
            assert numbers[0] < 2


def test_json_has_what_the_tables_have() -> None:
    done = verify("--count", "8", "--executors", "preemptive", "--instances", "500", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["applications"] + answer["infeasible"] == 8
    assert answer["violations"] == answer["differing"] == []
    (row,) = answer["executors"]
    assert row["executor"] == "preemptive"
    assert row["chains"] >= row["proved"] > 8
    assert row["sampled"] >= row["attacked"] > 0
    assert row["attacked"] >= row["logical"] >= 0
    assert row["below_load"]["tightness"]["response"]["median"] >= 1
    for what in ("reaction", "age"):
        assert row["sampled_below_load"]["tightness"][what]["median"] >= 1


def test_ctrl_c_ends_the_search_and_keeps_what_was_found() -> None:
    line = command("verify", "--count", 100_000, "--executors", "preemptive", "--jobs", 2)
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_for(lambda: len(children.read_text().split()) == 2)
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=GENEROUS_S)
    assert process.returncode == 128 + signal.SIGINT
    stopped = re.search(r"rclrt: stopped after (\d+) of 100000 applications", complained)
    counted = re.match(r"(\d+) applications, (\d+) infeasible; ", said)
    assert stopped is not None
    assert counted is not None
    assert int(stopped[1]) == int(counted[1]) + int(counted[2])
