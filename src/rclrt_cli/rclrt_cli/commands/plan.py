# SPDX-License-Identifier: Apache-2.0
"""`rclrt plan`: the application on a page, where every change is analysed at once."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.arguments import whole_number
from rclrt_py.errors import EXIT_OK, BadInput
from rclrt_py.executors import EXECUTORS, executor_argument
from rclrt_py.files.atomic import check_file
from rclrt_py.options import overheads
from rclrt_py.processes.stop_signals import StopSignals

if TYPE_CHECKING:
    from collections.abc import Callable

    from rclrt_py.plan.examples import Offer
    from rclrt_py.plan.server import Server
    from rclrt_py.plan.session import Session
    from rclrt_py.plan.written import Output

    from rclrt_cli.robots import Robots

HELP = "change an application on a page in the browser; every change is analysed at once"
MOST_PORT = 65_535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "app",
        metavar="APP",
        nargs="?",
        type=Path,
        help="an app.yaml; without one, the page offers the bundled examples",
    )
    parser.add_argument(
        "--executor",
        metavar="X",
        type=executor_argument,
        default="preemptive",
        help=f"the executor of the bounds: one of {', '.join(EXECUTORS)}; default preemptive",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        help="the page may write the application to this file; default: APP itself, and no file "
        "without APP",
    )
    parser.add_argument(
        "--priorities-out",
        metavar="FILE",
        type=Path,
        help="the page may write the priorities of the callbacks to this file",
    )
    parser.add_argument(
        "--robot-out",
        metavar="FILE",
        type=Path,
        help="the page may write a robot.yaml, for rclcpp nodes, to this file",
    )
    _add_measured(parser)
    parser.add_argument(
        "--port",
        metavar="N",
        type=whole_number("no port", 0, MOST_PORT),
        default=0,
        help="port of the page on 127.0.0.1; default: any that is free",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address, but open no browser"
    )
    overheads.add_arguments(parser)


def _add_measured(parser: argparse.ArgumentParser) -> None:
    """Adds the options about measured times."""
    parser.add_argument(
        "--results",
        metavar="DIR",
        type=Path,
        help="show what was measured beside the bounds: a directory of rclrt run, compare or "
        "simulate; of a run that goes on, what it has measured so far",
    )
    parser.add_argument(
        "--live",
        action="store_true",
        help="show what running robots measure now, as rclrt top does; needs ROS 2",
    )
    parser.add_argument(
        "--topic",
        help="with --live: the topic on which the robots publish; default: /diagnostics",
    )


def run(arguments: argparse.Namespace) -> int:
    outputs = files_to_write(arguments)
    _check_measured(arguments)
    with _robots(arguments) as robots:
        return _run(arguments, partial(_session, arguments, outputs, robots))


def _run(arguments: argparse.Namespace, session_of: Callable[[Path], Session]) -> int:
    # Loaded here: the other verbs need none of it.
    from rclrt_py.plan.examples import Offer, examples

    if arguments.app is None:
        paths = examples()
        if not paths:
            raise BadInput("plan: no APP, and no examples are installed; expected an app.yaml")
        offer = Offer(paths, session_of, arguments.executor)
        return _serve(_server(None, arguments.port, offer), open_browser=not arguments.no_browser)
    if arguments.app.is_dir():
        raise BadInput(
            f"{arguments.app}: is a directory; expected an app.yaml\n"
            f"  fix: rclrt model {arguments.app} -o app.yaml makes one from a trace or a run"
        )
    session = session_of(arguments.app)
    try:
        session.open(arguments.executor)
        session.observe()  # throws if there are no results
        server = _server(session, arguments.port)
    except BaseException:
        session.worker.stop()
        raise
    return _serve(server, open_browser=not arguments.no_browser)


def _check_measured(arguments: argparse.Namespace) -> None:
    """Refuses options about measured times that do not go together."""
    if arguments.live and arguments.results is not None:
        raise BadInput("--live, --results: the page shows one of them; leave one out")
    if arguments.topic is not None and not arguments.live:
        raise BadInput("--topic: is the topic of --live; add --live")
    if arguments.results is not None and arguments.app is None:
        raise BadInput(
            f"--results {arguments.results}: is shown beside the bounds of an application; "
            "name this application as APP"
        )


def _robots(arguments: argparse.Namespace) -> AbstractContextManager[Robots | None]:
    if not arguments.live:
        return nullcontext()
    from rclrt_cli.robots import TOPIC, Robots

    return Robots("rclrt plan --live", arguments.topic or TOPIC)


def _session(
    arguments: argparse.Namespace, outputs: list[Output], robots: Robots | None, app: Path
) -> Session:
    """Makes a session that is not open yet."""
    from rclrt_py.plan.observed import observed
    from rclrt_py.plan.session import Session

    session = Session(
        app,
        outputs,
        {
            name: str(value) if isinstance(value := getattr(arguments, name), Path) else value
            for name in overheads.OPTIONS
        },
    )
    if robots is not None:
        session.observe = lambda: robots.observed(session.places())
    elif arguments.results is not None:
        session.observe = partial(observed, arguments.results, arguments.executor)
    return session


def _serve(server: Server, open_browser: bool) -> int:
    """Serves the page until Ctrl-C or SIGTERM."""
    with StopSignals() as stop:
        server.start()
        print(f"{server.address}\nCtrl-C ends it.", flush=True)
        never, writer = os.pipe()
        directory = Path(tempfile.mkdtemp(prefix="rclrt-plan-"))  # of this user only
        try:
            if open_browser and not _open(server.address, directory):
                print("rclrt: no browser was found; open the address in one", file=sys.stderr)
            while not stop.requested:
                stop.wait(never, None)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
            os.close(never)
            os.close(writer)
            server.close()
    if server.has_unsaved_changes:
        print("rclrt: changes on the page were not saved", file=sys.stderr)
    return EXIT_OK


def _open(address: str, directory: Path) -> bool:
    """Opens the page in the user's browser. Returns False if there is none. Without a display, no
    browser is tried: it would be one that takes over the terminal.

    The browser gets a file that leads to the address: other users can read command lines, but not
    this file."""
    import webbrowser

    if not any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")):
        return False
    file = directory / "plan.html"
    file.write_text(f'<meta http-equiv="refresh" content="0; url={address}">\n', encoding="utf-8")
    return webbrowser.open(file.as_uri())


def _server(session: Session | None, port: int, offer: Offer | None = None) -> Server:
    from rclrt_py.plan.server import Server

    try:
        return Server(session, port, offer=offer)
    except OSError as error:
        raise BadInput(
            f"--port {port}: cannot be used ({error.strerror}); choose another one, or leave it out"
        ) from error


def files_to_write(arguments: argparse.Namespace) -> list[Output]:
    """Returns the files that the page may write. Bundled examples are never among them."""
    from rclrt_py.plan.examples import is_bundled, is_example
    from rclrt_py.plan.written import KINDS, Output

    named = {what: getattr(arguments, "out" if what == "app" else f"{what}_out") for what in KINDS}
    for what, path in named.items():
        if path is not None:
            option = "--out" if what == "app" else f"--{what}-out"
            if is_bundled(path) or (arguments.app is None and is_example(path)):
                raise BadInput(f"{option} {path}: is a bundled example; name another file")
            inputs = [arguments.overheads, arguments.results]
            if what != "app":  # the page changes APP, and may write it
                inputs.append(arguments.app)
            if path != arguments.app or what != "app":
                check_file(option, path, inputs)
    if named["app"] is None and arguments.app is not None and not is_bundled(arguments.app):
        named["app"] = arguments.app
    outputs = [Output(what, path) for what, path in named.items() if path is not None]
    paths = [output.path.resolve() for output in outputs]
    if len(set(paths)) < len(paths):
        raise BadInput("plan: two options name the same file to write; name a file for each")
    return outputs
