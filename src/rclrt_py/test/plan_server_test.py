# SPDX-License-Identifier: Apache-2.0
"""The server of `rclrt plan`: what it answers, what it refuses, and what it writes."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rclrt_py.errors import BadInput
from rclrt_py.options import overheads
from rclrt_py.plan.worker import Stopped, Worker
from rclrt_py.plan.written import Output
from rclrt_py.testing.plan_server import Plan, opened
from rclrt_py.testing.waiting import GENEROUS_S, wait_for

from rclrt_model import load, read_yaml

EXAMPLE = Path(__file__).parents[3] / "examples" / "autonomous_vehicle" / "app.yaml"
SCAN = ["callbacks", "scan", "priority"]


def ask(plan: Plan, path: str, *, method: str = "POST", body: Any = None, **headers: str) -> Any:
    """Returns status, headers and content of one request."""
    port = plan.server.server_port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=GENEROUS_S)
    sent = {"Host": f"127.0.0.1:{port}", "Content-Type": "application/json"}
    sent.update({name.replace("_", "-"): value for name, value in headers.items()})
    text = body if isinstance(body, bytes) else json.dumps({} if body is None else body)
    if method == "GET":
        text = b""
    connection.putrequest(method, path, skip_host=True)
    for name, value in {**sent, "Content-Length": str(len(text))}.items():
        connection.putheader(name, value)
    connection.endheaders(text.encode() if isinstance(text, str) else text)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def test_the_page_needs_the_token_and_its_own_host(plan: Plan) -> None:
    token = f"/{plan.server.token}/"
    assert ask(plan, token, method="GET")[0] == 200
    for path in ("/", "/state", "/wrong/", f"{token}../", f"/{plan.server.token}", f"{token}x/y"):
        assert ask(plan, path, method="GET")[0] == 404
    for host in ("evil.example", f"evil.example:{plan.server.server_port}", "127.0.0.1", ""):
        status, _, content = ask(plan, token, method="GET", Host=host)
        assert (status, content) == (421, b"Misdirected Request")
    assert ask(plan, f"{token}state", Origin="http://evil.example")[0] == 403
    assert ask(plan, f"{token}state")[0] == 200


def test_a_request_that_another_page_can_send_without_asking_is_refused(plan: Plan) -> None:
    path = f"/{plan.server.token}/state"
    assert ask(plan, path, Content_Type="text/plain")[0] == 415
    assert ask(plan, path, method="GET")[0] == 404
    assert ask(plan, path, body=b"[]")[0] == 400
    assert ask(plan, path, body=b"\xff")[0] == 400
    assert ask(plan, path, body=b"[" * 100_000)[0] == 400
    assert ask(plan, f"/{plan.server.token}/close")[0] == 404


def test_no_answer_may_be_kept_framed_or_read_by_others(plan: Plan) -> None:
    _, headers, _ = ask(plan, f"/{plan.server.token}/", method="GET")
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers


def test_a_change_is_analysed_undone_and_done_again(plan: Plan) -> None:
    bound = {each["id"]: each["bound_ms"] for each in plan.chains()}
    assert bound["obstacle"] == 16.0  # examples/autonomous_vehicle/README.md
    state = plan.call("change", changes=[plan.set(SCAN, "0")], label="priority of scan")
    assert state["dirty"] is True
    assert plan.chains(state)[0]["bound_ms"] > 16.0
    assert plan.chains(plan.call("go", step=-1))[0]["bound_ms"] == 16.0
    again = plan.call("go", step=1)
    assert again["answer"] == state["answer"]
    assert again["labels"] == ["priority of scan"]
    assert plan.call("reset")["dirty"] is False


def test_a_slide_is_one_step_to_undo(plan: Plan) -> None:
    for number in range(5):
        state = plan.call(
            "change", changes=[plan.set(SCAN, str(number))], label="slide", merge=number > 0
        )
    assert state["labels"] == ["slide"]


def test_a_wrong_value_is_refused_with_its_place_and_changes_nothing(plan: Plan) -> None:
    with pytest.raises(BadInput, match=r"app\.yaml:\d+:\d+: wcet_ms is"):
        plan.call("change", changes=[plan.set(["callbacks", "scan", "wcet_ms"], "-1")])
    with pytest.raises(BadInput, match=r"has no 'callbacks\.absent'"):
        plan.call("change", changes=[plan.set(["callbacks", "absent", "wcet_ms"], "1")])
    with pytest.raises(BadInput, match="unknown executor"):
        plan.call("executor", executor="nothing")
    assert plan.call("state")["position"] == 0


def test_variants_are_kept_opened_and_removed(plan: Plan) -> None:
    plan.call("variant", do="keep", name="as it was")
    plan.call("change", changes=[plan.set(SCAN, "0")], label="x")
    state = plan.call("variant", do="keep", name="slow")
    assert [each["name"] for each in state["variants"]] == ["as it was", "slow"]
    state = plan.call("variant", do="open", name="as it was")
    assert plan.chains(state)[0]["bound_ms"] == 16.0
    assert state["position"] == 2  # undo leads back
    assert plan.call("variant", do="remove", name="slow")["variants"][0]["current"] is True
    with pytest.raises(BadInput, match="none of the name 'slow'"):
        plan.call("variant", do="open", name="slow")
    with pytest.raises(BadInput, match="expected a name"):
        plan.call("variant", do="keep", name=" ")


def test_only_the_named_file_is_written_and_only_when_asked(plan: Plan) -> None:
    before = plan.path.read_text()
    plan.call("change", changes=[plan.set(SCAN, "2")], label="x")
    assert plan.path.read_text() == before
    outcome = plan.call("outcome", what="app")
    assert "+     publishes: [points], priority: 2}" in outcome["diff"]
    with pytest.raises(BadInput, match="has changed since its differences were shown"):
        plan.call("save", what="app", seen="")
    with pytest.raises(BadInput, match="no file was named for 'priorities'"):
        plan.call("save", what="priorities", seen="")
    assert plan.path.read_text() == before
    assert plan.save()["dirty"] is False
    expected = before.replace("publishes: [points]}", "publishes: [points], priority: 2}", 1)
    assert plan.path.read_text() == expected
    assert [each.name for each in plan.path.parent.iterdir()] == ["app.yaml"]


def test_priorities_and_a_robot_file_are_written(tmp_path: Path) -> None:
    names = {what: tmp_path / f"{what}.yaml" for what in ("priorities", "robot")}
    others = [Output(what, path) for what, path in names.items()]
    for plan in opened(tmp_path / "app.yaml", EXAMPLE.read_text(), others=others):
        plan.call("change", changes=[plan.set(SCAN, "9")], label="x")
        for what in names:
            plan.save(what)
        made = load(plan.path, names["priorities"])
        levels = {
            each.id: made.effective_priority(index) for index, each in enumerate(made.callbacks)
        }
        model = plan.call("state")["answer"]["model"]
        assert levels == {each["id"]: each["level"] for each in model["callbacks"]}
        assert levels["scan"] == 9
        assert read_yaml(names["robot"])["executor"]["kind"] == "preemptive"
        plan.call("change", changes=[{"op": "executor", "name": "e2", "cpus": [2]}], label="x")
        with pytest.raises(BadInput, match="main and e2 are in one process"):
            plan.call("outcome", what="robot")
        plan.call("executor", executor="events")
        with pytest.raises(BadInput, match="does not run rclcpp nodes"):
            plan.call("outcome", what="robot")


def test_an_answer_that_takes_long_can_be_cancelled() -> None:
    worker = Worker()
    request = {
        "text": EXAMPLE.read_text(),
        "name": "app.yaml",
        "executor": "preemptive",
        "overheads": dict.fromkeys(overheads.OPTIONS),
    }
    found: list[str] = []

    def wait() -> None:
        try:
            worker.ask("simulate", {**request, "options": {"seconds": 60}})
        except Stopped:
            found.append("stopped")

    waiting = threading.Thread(target=wait)
    waiting.start()
    while waiting.is_alive():
        worker.stop()
        waiting.join(0.05)
    assert found == ["stopped"]
    assert worker.ask("answer", request)["analysis"]["feasible"] is True
    worker.stop()


def test_a_file_that_changed_after_its_differences_were_shown_is_not_replaced(plan: Plan) -> None:
    plan.call("change", changes=[plan.set(SCAN, "2")], label="x")
    seen = plan.call("outcome", what="app")["seen"]
    by_hand = plan.path.read_text() + "# by hand\n"
    plan.path.write_text(by_hand)
    with pytest.raises(BadInput, match="nothing was written"):
        plan.call("save", what="app", seen=seen)
    assert plan.path.read_text() == by_hand
    plan.save()
    assert "# by hand" not in plan.path.read_text()


def test_a_second_page_cannot_change_what_it_does_not_show(plan: Plan) -> None:
    base = plan.call("state")["version"]
    plan.call("change", changes=[plan.set(SCAN, "2")], label="first")
    before = plan.call("state")
    for method, body in (
        ("change", {"changes": [plan.set(SCAN, "3")]}),
        ("go", {"step": -1}),
        ("reset", {}),
        ("variant", {"do": "keep", "name": "x"}),
        ("job", {"kind": "simulate"}),
        ("outcome", {"what": "app"}),
    ):
        with pytest.raises(BadInput, match="another page has changed the application"):
            plan.call(method, base=base, **body)
    assert plan.call("state") == before


def test_nothing_has_changed_when_an_answer_was_cancelled(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan.call("variant", do="keep", name="kept")
    for number in range(60):  # more than there are answers kept
        plan.call("change", changes=[plan.set(SCAN, str(number))], label=str(number))
    before = plan.call("state")

    def stopped(*_: Any, **__: Any) -> None:
        raise Stopped

    monkeypatch.setattr(plan.server.session.worker, "ask", stopped)
    path = f"/{plan.server.token}/change"
    change = {"base": before["version"], "changes": [plan.set(SCAN, "999")]}
    assert ask(plan, path, body=change)[0] == 409
    assert plan.call("state") == before
    assert plan.call("variant", do="remove", name="kept")["variants"] == []


def test_a_connection_from_before_the_end_gets_no_answer_after_it(tmp_path: Path) -> None:
    serving = opened(tmp_path / "app.yaml", EXAMPLE.read_text())
    server = next(serving).server
    before = threading.active_count()
    with socket.create_connection(("127.0.0.1", server.server_port), GENEROUS_S) as early:
        early.sendall(f"GET /{server.token}/ HTTP/1.0\r\n".encode())
        wait_for(lambda: threading.active_count() > before)  # a thread of the server reads the rest
        server.close()
        early.sendall(f"Host: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
        assert early.recv(1) == b""


def test_a_file_with_line_ends_of_windows_keeps_them(tmp_path: Path) -> None:
    text = EXAMPLE.read_text().replace("\n", "\r\n")
    for plan in opened(tmp_path / "app.yaml", text):
        assert plan.path.read_bytes() == text.encode()
        plan.call("change", changes=[plan.set(SCAN, "2")], label="x")
        plan.call("change", changes=[{"op": "executor", "name": "e2", "cpus": [2]}], label="x")
        plan.save()
        written = plan.path.read_bytes()
        assert b"e2" in written
        assert written.count(b"\n") == written.count(b"\r\n")
        plan.path.write_bytes(written.replace(b"\r\n", b"\n"))
        outcome = plan.call("outcome", what="app")
        assert outcome["diff"] == "app.yaml: only the ends of lines differ"


def test_a_file_that_something_else_changed_is_told(plan: Plan) -> None:
    plan.path.write_text(plan.path.read_text() + "# by hand\n")
    outcome = plan.call("outcome", what="app")
    assert outcome["changed_on_disk"] is True
    assert "-# by hand" in outcome["diff"]


TEXTS = st.text() | st.sampled_from(["callbacks", "scan", "priority", "executors", "main", "app"])
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
JSON = st.recursive(
    VALUES, lambda each: st.lists(each, max_size=4) | st.dictionaries(TEXTS, each, max_size=4)
)
CHANGE = st.fixed_dictionaries(
    {},
    optional={
        "op": st.sampled_from(["set", "move", "executor"]) | JSON,
        "path": st.lists(TEXTS, max_size=4) | JSON,
        "value": JSON,
        "callback": TEXTS,
        "executor": TEXTS,
        "name": TEXTS,
        "cpus": JSON,
    },
)
BODY = st.fixed_dictionaries(
    {},
    optional={
        "changes": st.lists(CHANGE, max_size=3) | JSON,
        "label": JSON,
        "merge": JSON,
        "base": st.integers(1, 3) | JSON,
        "step": st.integers(-2, 2) | JSON,
        "executor": JSON,
        "do": st.sampled_from(["keep", "open", "remove"]),
        "name": JSON,
        "job": JSON,
        "what": JSON,
    },
)
FUZZED = (
    *("change", "go", "executor", "reset", "variant", "job_state", "job_stop", "job_forget"),
    *("diff", "download", "open", "examples"),
)


def test_hostile_requests_are_refused_and_write_nothing(plan: Plan) -> None:
    text = plan.path.read_text()

    @settings(max_examples=80, deadline=None)
    @given(st.sampled_from((*FUZZED, "outcome", "save")), BODY)
    def send(method: str, body: Any) -> None:
        status, _, content = ask(plan, f"/{plan.server.token}/{method}", body=body)
        assert status in (200, 409, 422), content
        json.loads(content)

    send()
    assert plan.chains() is not None
    assert plan.path.read_text() == text
    assert [each.name for each in plan.path.parent.iterdir()] == ["app.yaml"]
