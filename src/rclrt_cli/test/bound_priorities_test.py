# SPDX-License-Identifier: Apache-2.0
"""`rclrt synthesize --from bounds`: priorities by Audsley's algorithm over the bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from rclrt_cli.main import main
from sources import ROOT

PRIORITIES_SCHEMA = json.loads((ROOT / "schemas" / "priorities.schema.json").read_text())
HEAD = """
rclrt: 1
name: app
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks:
"""
WRONG_WAY_ROUND = f"""{HEAD}
  - {{id: fast, node: n, timer: {{period_ms: 5}}, wcet_ms: 2}}
  - {{id: slow, node: n, timer: {{period_ms: 50}}, wcet_ms: 10}}
chains:
  - {{id: fast, callbacks: [fast], priority: 1}}
  - {{id: slow, callbacks: [slow], priority: 2}}
"""
# No chain's deadline holds below the two others: 7 below one and two, 6 below three and another
# one. At one priority each waits once for each other one: 1 + 1 + 3 = 5.
ONLY_TOGETHER = f"""{HEAD}
  - {{id: one, node: n, timer: {{period_ms: 4}}, wcet_ms: 1}}
  - {{id: two, node: n, timer: {{period_ms: 4}}, wcet_ms: 1}}
  - {{id: three, node: n, timer: {{period_ms: 100}}, wcet_ms: WCET}}
chains:
  - {{id: one, callbacks: [one], priority: 3, deadline_ms: 5}}
  - {{id: two, callbacks: [two], priority: 2, deadline_ms: 5}}
  - {{id: three, callbacks: [three], priority: 1, deadline_ms: 5}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "app.yaml"
    path.write_text(WRONG_WAY_ROUND)
    return path


def synthesized(capsys: pytest.CaptureFixture[str], file: Path, *options: str) -> Any:
    capsys.readouterr()
    code = main(["synthesize", str(file), "--json", *options])
    said = capsys.readouterr()
    return code, json.loads(said.out), said.err


def priorities(document: Any) -> dict[str, int]:
    return {each["id"]: each["priority"] for each in document["callbacks"]}


def test_the_bounds_replace_the_file_where_only_they_prove_all(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, said = synthesized(capsys, file)
    assert (code, document["source"]) == (0, "bounds")
    assert priorities(document) == {"fast": 2, "slow": 1}
    assert "the priorities of the file do not prove all deadlines; these" in said
    code, document, said = synthesized(capsys, file, "--from", "given")
    assert (code, document["source"], said) == (0, "given", "")
    assert priorities(document) == {"fast": 1, "slow": 2}
    assert "bounds" not in document


def test_the_file_stays_the_source_where_it_proves_all_or_nothing_does(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(WRONG_WAY_ROUND.replace("priority: 1", "priority: 7"))
    code, document, said = synthesized(capsys, file)
    assert (code, document["source"], said) == (0, "given", "")
    assert priorities(document) == {"fast": 7, "slow": 2}
    file.write_text(WRONG_WAY_ROUND.replace("wcet_ms: 10", "wcet_ms: 40"))
    code, document, said = synthesized(capsys, file)
    assert (code, document["source"], said) == (0, "given", "")
    assert priorities(document) == {"fast": 1, "slow": 2}


def test_the_file_stays_the_source_where_a_callback_states_a_priority(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(WRONG_WAY_ROUND.replace("wcet_ms: 10", "wcet_ms: 10, priority: 4"))
    code, document, said = synthesized(capsys, file)
    assert (code, document["source"], said) == (0, "given", "")
    assert priorities(document)["slow"] == 4


def test_an_executor_with_few_priorities_gets_no_more_levels(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = WRONG_WAY_ROUND.replace("priority: 2}", "priority: 1}")  # one level, which fits
    file.write_text(text.replace("cpus: [0]", "cpus: [0], top_priority: 2"))
    code, document, said = synthesized(capsys, file)
    assert (code, document["source"], said) == (0, "given", "")
    code, document, said = synthesized(capsys, file, "--from", "bounds")
    assert code == 1
    assert set(priorities(document).values()) == {1}
    assert (document["bounds"]["feasible"], document["bounds"]["final"]) == (False, False)


def test_merged_levels_that_lose_a_deadline_prove_nothing(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, document, _ = synthesized(capsys, file, "--levels", "1")
    assert document["source"] == "given"
    code, document, said = synthesized(capsys, file, "--from", "bounds", "--levels", "1")
    assert code == 1
    assert (document["bounds"]["feasible"], document["bounds"]["final"]) == (False, False)
    assert "the deadline of chain fast is not proved after merging priorities" in said
    assert "levels were merged to have at most 1" in said


def test_each_priority_has_its_reason(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "priorities.yaml"
    assert main(["synthesize", str(file), "--from", "bounds", "-o", str(out)]) == 0
    assert out.read_text() == (
        "rclrt: 1\n"
        "application: app\n"
        "# priorities by the bounds of preemptive, Audsley's algorithm: all deadlines hold "
        "(rclrt analyze states the conditions)\n"
        "priorities:\n"
        "  fast: 2  # chain fast, holds at the lowest priority that was left: 2 of 5 ms\n"
        "  slow: 1  # chain slow, holds at the lowest priority that was left: 18 of 50 ms\n"
    )
    jsonschema.Draft202012Validator(PRIORITIES_SCHEMA).validate(yaml.safe_load(out.read_text()))
    capsys.readouterr()
    arguments = ["analyze", str(file), "--priorities", str(out), "--dispatch-us", "0"]
    assert main(arguments) == 0


def test_chains_that_hold_only_together_share_a_priority(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(ONLY_TOGETHER.replace("WCET", "3"))
    code, document, _ = synthesized(capsys, file, "--from", "bounds")
    assert code == 0
    assert set(priorities(document).values()) == {1}
    bounds = document["bounds"]
    assert (bounds["feasible"], bounds["final"], bounds["order_matters"]) == (True, True, [])
    assert bounds["chains"][0] == {
        "id": "one",
        "priority": 1,
        "reason": "holds at one priority with two, three: 5 of 5 ms",
        "bound_ms": 5.0,
        "deadline_ms": 5.0,
        "verdict": "proved",
    }


def test_that_nothing_more_can_be_proved_is_a_no_with_the_chains(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(ONLY_TOGETHER.replace("WCET", "3.1"))
    code, document, said = synthesized(capsys, file, "--from", "bounds")
    assert code == 1
    assert (document["bounds"]["feasible"], document["bounds"]["final"]) == (False, True)
    assert "not proved: " in said
    assert "no priorities prove all deadlines by these bounds" in said
    # With one thread that preempts nothing, a chain waits for one other one besides.
    code, document, _ = synthesized(capsys, file, "--from", "bounds", "--executor", "picas")
    assert code == 1
    assert document["bounds"]["executor"] == "picas"


def test_overheads_count(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(ONLY_TOGETHER.replace("WCET", "3"))
    code, _, _ = synthesized(capsys, file, "--from", "bounds", "--dispatch-us", "1")
    assert code == 1


def test_where_the_order_matters_is_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(WRONG_WAY_ROUND.replace("cpus: [0]", "cpus: [0, 1]").replace("2}", "6}"))
    code, document, said = synthesized(capsys, file, "--from", "bounds", "--evaluations", "20")
    assert code == 1
    assert document["bounds"]["final"] is False
    assert document["bounds"]["order_matters"] == [
        "executor 'main' uses several CPUs: a bound counts the responses of more urgent chains"
    ]
    assert "others may prove more:" in said
    assert "executor 'main' uses several CPUs" in said


@pytest.mark.parametrize("bad", ["0", "-1", "x", "999999999999"])
def test_evaluations_are_a_number(file: Path, capsys: pytest.CaptureFixture[str], bad: str) -> None:
    with pytest.raises(SystemExit) as error:
        main(["synthesize", str(file), "--evaluations", bad])
    assert error.value.code == 2
    assert "expected 1 or more" in capsys.readouterr().err
