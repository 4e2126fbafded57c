# SPDX-License-Identifier: Apache-2.0
"""The server of the page: on the loopback only, for the browser that knows its token only."""

from __future__ import annotations

import hmac
import json
import re
import secrets
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rclrt_py.errors import RclrtError
from rclrt_py.plan.examples import Offer
from rclrt_py.plan.page import offline_page, plan_page
from rclrt_py.plan.running import Jobs
from rclrt_py.plan.session import Conflict, Session
from rclrt_py.plan.worker import Stopped

HOST = "127.0.0.1"
MOST_BODY, MOST_REFUSED = 4 * 1024 * 1024, 256 * 1024
NUMBER = re.compile(r"[0-9]{1,9}")
Method = Callable[[Mapping[str, Any]], Any]


class Server(ThreadingHTTPServer):
    """Serves one session. `address` is what a browser opens. Without a session at first, the page
    chooses one of the offered examples."""

    daemon_threads = True

    def __init__(
        self, session: Session | None, port: int = 0, *, offer: Offer | None = None
    ) -> None:
        super().__init__((HOST, port), Handler)
        self._session = session
        self._offer = offer
        self._opening = threading.Lock()
        self.closed = threading.Event()
        self.token = secrets.token_urlsafe(24)
        self.hosts = {f"{HOST}:{self.server_port}", f"localhost:{self.server_port}"}
        self.jobs = Jobs()
        self.methods: dict[str, Method] = {
            "state": lambda body: self.state(),
            "examples": lambda body: {"examples": self._offered().described()},
            "open": self._open,
            "change": lambda body: self.session.change(
                _number(body, "base"),
                body.get("changes"),
                str(body.get("label", "")),
                body.get("merge") is True,
            ),
            "executor": lambda body: self.session.choose_executor(
                _number(body, "base"), str(body.get("executor"))
            ),
            "go": lambda body: self.session.go(_number(body, "base"), _number(body, "step")),
            "reset": lambda body: self.session.reset(_number(body, "base")),
            "variant": self._variant,
            "cancel": lambda body: self.session.worker.stop(),
            "job": self._start_job,
            "job_state": lambda body: self.jobs.get(body.get("job")).state(),
            "job_stop": lambda body: self.jobs.get(body.get("job")).stop(),
            "job_forget": lambda body: self.jobs.forget(body.get("job")),
            "diff": lambda body: {"diff": self.session.diff()},
            "outcome": lambda body: self.session.outcome(
                _number(body, "base"), str(body.get("what"))
            ),
            "save": lambda body: self.session.save(
                _number(body, "base"), str(body.get("what")), str(body.get("seen"))
            ),
            "download": lambda body: self.session.download(
                _number(body, "base"), str(body.get("what"))
            ),
            "observed": lambda body: {"observed": self.session.observe()},
            "page": lambda body: {"html": offline_page(self.session.state())},
        }

    @property
    def session(self) -> Session:
        """The session of the application that is open. Throws RclrtError if none is."""
        if self._session is None:
            raise RclrtError("no application is open; choose one of the examples")
        return self._session

    @property
    def has_unsaved_changes(self) -> bool:
        return self._session is not None and self._session.has_unsaved_changes

    def state(self) -> dict[str, Any]:
        """Returns everything that the page shows when it is opened."""
        offers = {"offers": self._offer is not None}
        if self._session is None:
            return {**offers, "examples": self._offered().described()}
        return {**offers, "jobs": self.jobs.listed(), **self._session.state()}

    def _offered(self) -> Offer:
        if self._offer is None:
            raise RclrtError("examples are offered if the command is started without APP")
        return self._offer

    def _open(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Opens an example in place of the application that is open."""
        with self._opening:
            before, first = self._session, 1
            if before is not None:
                before.check(_number(body, "base"))
                first = before.last_id + 1
            self._session = self._offered().open(str(body.get("example")), first)
            if before is not None:
                before.worker.stop()
            self.jobs.forget_all()
            return self.state()

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def start(self) -> None:
        """Serves in a thread of its own until close()."""
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()

    def close(self) -> None:
        """Ends the server and all computations. Call it after start()."""
        self.closed.set()
        self.shutdown()
        self.jobs.forget_all()
        if self._session is not None:
            self._session.worker.stop()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints nothing: a browser may close a connection at any time."""

    def _variant(self, body: Mapping[str, Any]) -> Any:
        session = self.session
        does = {
            "keep": session.keep_variant,
            "open": session.open_variant,
            "remove": session.remove_variant,
        }.get(str(body.get("do")))
        if does is None:
            raise RclrtError("variant: expected keep, open or remove")
        return does(_number(body, "base"), str(body.get("name", "")))

    def _start_job(self, body: Mapping[str, Any]) -> Any:
        options = body.get("options")
        base = _number(body, "base")
        request = {
            **self.session.request(base),
            "options": options if isinstance(options, dict) else {},
        }
        name = self.jobs.start(str(body.get("kind")), request, base)
        return {"job": name, "version": base}


class Handler(BaseHTTPRequestHandler):
    """Answers `GET /TOKEN/` with the page, and `POST /TOKEN/METHOD` with JSON. A request without
    the token, from another page or for another host gets no more than a status."""

    server: Server
    server_version = "rclrt"
    sys_version = ""
    timeout = 60
    _was_read = False

    def do_GET(self) -> None:
        name = self._method()
        if name == "":
            text = plan_page()
            self._send(HTTPStatus.OK, text.encode("utf-8"), "text/html; charset=utf-8")
        elif name is not None:
            self._refuse(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        name = self._method()
        if name is None:
            return
        method = self.server.methods.get(name)
        length = self.headers.get("Content-Length", "")
        if method is None:
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        if self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
            return
        if not NUMBER.fullmatch(length) or int(length) > MOST_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        self._was_read = True
        try:
            body = json.loads(self.rfile.read(int(length)))
            if not isinstance(body, dict):
                raise ValueError("no mapping")
        except (ValueError, RecursionError):
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        self._answer(method, body)

    def _answer(self, method: Method, body: Mapping[str, Any]) -> None:
        status, document = HTTPStatus.OK, None
        try:
            document = method(body)
        except Stopped:
            status, document = HTTPStatus.CONFLICT, {"error": "cancelled: nothing was changed"}
        except Conflict as error:
            document = {"error": str(error), "state": self.server.state()}
            status = HTTPStatus.CONFLICT
        except (RclrtError, ValueError, OSError) as error:
            status, document = HTTPStatus.UNPROCESSABLE_ENTITY, {"error": str(error)}
        except Exception as error:
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            document = {"error": f"{type(error).__name__}: {error}"}
        text = json.dumps(document, separators=(",", ":")).encode("utf-8")
        self._send(status, text, "application/json")

    def _method(self) -> str | None:
        """Returns the path behind the token. None: the request was refused."""
        if self.server.closed.is_set():  # the browser had connected before
            return None
        if self.headers.get("Host") not in self.server.hosts:
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        origin = self.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in self.server.hosts:
            self._refuse(HTTPStatus.FORBIDDEN)
            return None
        parts = self.path.split("/")
        token = parts[1] if len(parts) == 3 and not parts[0] else ""
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()):
            self._refuse(HTTPStatus.NOT_FOUND)
            return None
        return parts[2]

    def _refuse(self, status: HTTPStatus) -> None:
        # A connection that is closed with unread input may lose the status.
        length = self.headers.get("Content-Length", "")
        if not self._was_read and NUMBER.fullmatch(length):
            self.rfile.read(min(int(length), MOST_REFUSED))
        self._send(status, status.phrase.encode(), "text/plain; charset=utf-8")

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in (
            ("Cache-Control", "no-store"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Prints nothing: the token is in the address."""


def _number(body: Mapping[str, Any], key: str) -> int:
    value = body.get(key)
    if not isinstance(value, int):
        raise RclrtError(f"expected a whole number as '{key}'")
    return value
