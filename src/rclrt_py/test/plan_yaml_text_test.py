# SPDX-License-Identifier: Apache-2.0
"""Changes of single values keep everything else of a YAML text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rclrt_py.errors import BadInput
from rclrt_py.plan.changes import changed, difference
from rclrt_py.plan.yaml_text import YamlText, put, remove, to_yaml

from rclrt_model import ModelError

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*/app.yaml"))

BLOCK = """\
# head: stays
rclrt: 1
name: demo
# above the nodes
nodes:
  - name: lidar   # of the front
    namespace: /front
  - {name: base}

callbacks:
  - id: scan  # first
    node: lidar
    timer:
      period_ms: 50   # 20 per second
    wcet_ms: 2.50

  - {id: brake, node: base, wcet_ms: 1, # why
     timer: {period_ms: 10}, group: "a"}
chains:
  - {id: stop, callbacks: [brake], priority: 2}
"""


def lines_changed(before: str, after: str) -> list[str]:
    """Returns the lines of `after` that `before` lacks."""
    known = before.splitlines()
    return [line for line in after.splitlines() if line not in known]


def edited(text: str, *edits: Any) -> str:
    return YamlText(text, "app.yaml").edited(edits).text


def test_a_value_is_replaced_and_its_comment_stays() -> None:
    after = edited(BLOCK, put(("callbacks", "scan", "timer", "period_ms"), "20"))
    assert after == BLOCK.replace("period_ms: 50   #", "period_ms: 20   #")


def test_a_key_is_added_behind_the_last_one_of_its_mapping() -> None:
    after = edited(
        BLOCK,
        put(("callbacks", "scan", "priority"), 3),
        put(("callbacks", "brake", "priority"), 4),
        put(("callbacks", "scan", "timer", "offset_ms"), "0.5"),
    )
    expected = BLOCK.replace("    wcet_ms: 2.50\n", "    wcet_ms: 2.50\n    priority: 3\n")
    expected = expected.replace('group: "a"}', 'group: "a", priority: 4}')
    expected = expected.replace("# 20 per second\n", "# 20 per second\n      offset_ms: 0.5\n")
    assert after == expected


def test_a_key_is_removed_with_its_value() -> None:
    after = edited(BLOCK, remove(("callbacks", "brake", "group")))
    assert after == BLOCK.replace(', group: "a"', "")
    after = edited(BLOCK, remove(("nodes", "lidar", "namespace")))
    assert after == BLOCK.replace("    namespace: /front\n", "")
    after = edited(BLOCK, remove(("callbacks", "brake", "timer")))
    assert "# why" in after
    assert YamlText(after, "app.yaml").get(("callbacks", "brake")) == {
        "id": "brake",
        "node": "base",
        "wcet_ms": "1",
        "group": "a",
    }


def test_what_is_not_there_is_not_removed() -> None:
    assert edited(BLOCK, remove(("callbacks", "scan", "priority"))) == BLOCK


def test_a_value_of_a_mapping_that_is_missing_is_an_error() -> None:
    with pytest.raises(BadInput, match=r"app\.yaml: has no 'callbacks\.absent' to write into"):
        edited(BLOCK, put(("callbacks", "absent", "priority"), 1))


def test_two_changes_of_one_place_are_made_one_after_the_other() -> None:
    path = ("callbacks", "scan", "wcet_ms")
    after = edited(BLOCK, put(path, "3"), put(path, "4"), remove(path), put(path, "5"))
    assert YamlText(after, "app.yaml").get(path) == "5"
    assert "# first" in after


def test_a_text_with_a_mark_and_letters_of_several_bytes_is_changed_in_the_right_place() -> None:
    text = "\ufeff" + BLOCK.replace("head: stays", "Übergröße ✓ 🚗")
    after = edited(text, put(("chains", "stop", "priority"), 7))
    assert after == text.replace("priority: 2", "priority: 7")


CRLF = BLOCK.replace("\n", "\r\n")


@pytest.mark.parametrize(
    "changes",
    [
        [{"op": "set", "path": ["callbacks", "scan", "wcet_ms"], "value": "7"}],
        [{"op": "set", "path": ["callbacks", "scan", "priority"], "value": 3}],
        [{"op": "set", "path": ["callbacks", "scan", "timer", "offset_ms"], "value": 3}],
        [{"op": "set", "path": ["callbacks", "brake", "priority"], "value": 3}],
        [{"op": "set", "path": ["callbacks", "brake", "timer"], "value": None}],
        [{"op": "set", "path": ["nodes", "lidar", "namespace"], "value": None}],
        [{"op": "executor", "name": "second", "cpus": [2]}],
        [{"op": "executor", "name": each, "cpus": [2]} for each in ("second", "third")],
        [
            {"op": "executor", "name": "second", "cpus": [2]},
            {"op": "move", "callback": "scan", "executor": "second"},
        ],
    ],
)
def test_a_text_keeps_the_ends_of_its_lines(changes: Any) -> None:
    after = changed(YamlText(CRLF, "app.yaml"), changes).text
    assert after == changed(YamlText(BLOCK, "app.yaml"), changes).text.replace("\n", "\r\n")
    assert after.count("\n") == after.count("\r\n") == after.count("\r")


def test_a_new_line_behind_the_last_one_ends_as_the_others() -> None:
    text = (
        CRLF.replace(
            "  - {id: stop, callbacks: [brake], priority: 2}",
            "  - id: stop\n    callbacks: [brake]",
        )
        .rstrip()
        .replace("\r\n", "\n")
    )
    for end in ("\n", "\r\n"):
        after = edited(text.replace("\n", end), put(("chains", "stop", "priority"), 3))
        assert after == text.replace("\n", end) + f"{end}    priority: 3"


def test_values_are_written_so_that_a_reader_gets_them_back() -> None:
    for value in ("a", "on", "a b", "{}", '"', "x: y", "#", "é", "a\nb"):
        after = edited(BLOCK, put(("name",), value))
        assert YamlText(after, "app.yaml").get(("name",)) == value
    assert to_yaml(0.1 + 0.2) == "0.3"
    assert to_yaml("0.10") == "0.10"
    assert to_yaml([1, 2]) == "[1, 2]"


def test_moving_all_callbacks_of_a_node_moves_the_node() -> None:
    text = YamlText(BLOCK, "app.yaml")
    after = changed(
        text,
        [
            {"op": "executor", "name": "second", "cpus": [2]},
            {"op": "move", "callback": "brake", "executor": "second"},
        ],
    )
    assert after.get(("nodes", "base")) == {"name": "base", "executor": "second"}
    assert after.get(("executors",)) == [{"name": "main"}, {"name": "second", "cpus": ["2"]}]
    assert after.text.index("executors:") < after.text.index("# above the nodes")
    back = changed(after, [{"op": "move", "callback": "brake", "executor": "main"}])
    assert back.get(("nodes", "base", "executor")) == "main"


def test_moving_one_of_several_callbacks_states_its_own_executor_and_that_of_its_group() -> None:
    path = next(each for each in EXAMPLES if each.parent.name == "autonomous_vehicle")
    text = changed(
        YamlText(path.read_text(), "app.yaml"),
        [
            {"op": "executor", "name": "second", "cpus": [2]},
            {"op": "move", "callback": "brake", "executor": "second"},
        ],
    )
    stated = {each["id"]: each.get("executor") for each in text.get(("callbacks",))}
    moved = {name for name, executor in stated.items() if executor == "second"}
    assert moved == {"brake", "actuate"}  # of the group actuator
    back = changed(text, [{"op": "move", "callback": "actuate", "executor": "main"}])
    assert not any("executor" in each for each in back.get(("callbacks",)))


@pytest.mark.parametrize(
    "changes",
    [
        None,
        {},
        ["x"],
        [{"op": "rm"}],
        [{"op": "set"}],
        [{"op": "set", "path": []}],
        [{"op": "set", "path": [1], "value": 1}],
        [{"op": "set", "path": ["name"], "value": {"a": 1}}],
        [{"op": "set", "path": ["name"], "value": [[1]]}],
        [{"op": "move", "callback": "brake"}],
        [{"op": "move", "callback": "absent", "executor": "main"}],
        [{"op": "executor"}],
    ],
)
def test_other_changes_are_refused(changes: Any) -> None:
    with pytest.raises(BadInput):
        changed(YamlText(BLOCK, "app.yaml"), changes)


def test_the_difference_of_two_documents_leads_from_one_to_the_other() -> None:
    first = YamlText(BLOCK, "app.yaml")
    other = changed(
        first,
        [
            {"op": "executor", "name": "second", "cpus": [2]},
            {"op": "move", "callback": "brake", "executor": "second"},
            {"op": "set", "path": ["callbacks", "scan", "priority"], "value": 9},
        ],
    )
    again = changed(first, difference(first.get(()), other.get(())))
    assert again.get(("callbacks",)) == other.get(("callbacks",))
    assert again.get(("executors",)) == other.get(("executors",))


def test_a_text_that_is_not_strict_yaml_is_refused() -> None:
    with pytest.raises(ModelError, match=r"x\.yaml:1:"):
        YamlText("a: &b 1\n", "x.yaml")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_change_of_an_example_changes_its_own_value_only(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(EXAMPLES))
    text = YamlText(path.read_text(), "app.yaml")
    ids = [each["id"] for each in text.get(("callbacks",))]
    name = data.draw(st.sampled_from(ids))
    key = data.draw(st.sampled_from(["priority", "wcet_ms", "deadline_ms"]))
    value = str(data.draw(st.integers(1, 999)))
    after = text.edited([put(("callbacks", name, key), value)])
    expected = text.get(())
    next(each for each in expected["callbacks"] if each["id"] == name)[key] = value
    assert after.get(()) == expected
    assert len(lines_changed(text.text, after.text)) <= 1
    comments = [line for line in text.text.splitlines() if line.lstrip().startswith("#")]
    assert [line for line in after.text.splitlines() if line.lstrip().startswith("#")] == comments
    again = after.edited([remove(("callbacks", name, key))]).get(("callbacks", name))
    assert key not in again


@pytest.mark.parametrize("style", ["|", ">-"])
def test_a_block_text_ends_where_it_is_written(style: str) -> None:
    text = BLOCK.replace(
        "    wcet_ms: 2.50\n", f"    wcet_ms: 2.50\n    group: {style}\n      abc\n"
    )
    path = ("callbacks", "scan")
    after = YamlText(edited(text, put((*path, "priority"), 3)), "app.yaml")
    assert after.get((*path, "priority")) == "3"
    assert after.get(("callbacks", "brake")) == YamlText(text, "x").get(("callbacks", "brake"))
    without = YamlText(edited(text, remove((*path, "group"))), "app.yaml")
    assert without.get(("callbacks",)) == YamlText(BLOCK, "x").get(("callbacks",))
    other = YamlText(edited(text, put((*path, "group"), "b")), "app.yaml")
    assert other.get((*path, "group")) == "b"


def test_a_list_with_its_dash_on_another_line_gets_an_item_or_is_refused() -> None:
    text = BLOCK.replace("nodes:\n", "executors:\n  -\n    name: a-b\nnodes:\n", 1)
    after = changed(YamlText(text, "app.yaml"), [{"op": "executor", "name": "c", "cpus": [1]}])
    assert after.names(("executors",)) == ["a-b", "c"]


def test_a_key_that_is_no_key_is_refused() -> None:
    with pytest.raises(BadInput, match="is no key"):
        edited(BLOCK, put(("callbacks", "scan", "priority: 3\n    x"), 1))
