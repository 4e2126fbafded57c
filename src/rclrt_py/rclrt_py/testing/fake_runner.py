# SPDX-License-Identifier: Apache-2.0
"""A program with the runner's contract but without ROS 2, for tests of the code that starts it.

FAKE_STATE is a directory. Every start appends its command line to `calls` there. FAKE_BEHAVIOUR is
JSON, such as `{"preemptive#2": "crash"}`: the behaviour at the second start with this executor.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from pathlib import Path

from rclrt_py.testing.streamed_run import stream_run
from rclrt_py.testing.synthetic_run import write_run


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("app")
    parser.add_argument("--executor", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--keep", type=int)
    arguments, _ = parser.parse_known_args()
    state = Path(os.environ["FAKE_STATE"])
    with (state / "calls").open("a", encoding="utf-8") as calls:
        calls.write(json.dumps(sys.argv[1:]) + "\n")
    starts = [json.loads(line) for line in (state / "calls").read_text().splitlines()]
    nth = sum(f"--executor {arguments.executor}" in " ".join(start) for start in starts)
    behaviours = json.loads(os.environ.get("FAKE_BEHAVIOUR", "{}"))
    behaviour = behaviours.get(f"{arguments.executor}#{nth}", "measure")
    if behaviour == "bad-input":
        print(f"{arguments.app}:3:5: unknown key 'nodez'; expected nodes", file=sys.stderr)
        return 2
    if behaviour == "crash":
        print("something broke", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGSEGV)
    if behaviour == "silent":
        return 0
    seconds = arguments.seconds
    if behaviour in ("block", "block-and-write", "stubborn"):
        block(state, behaviour)
        if behaviour == "block":
            return 130
        seconds /= 2
    if behaviour == "write-and-crash":
        write_run(arguments.out, arguments.executor, seconds / 2, nth, app_file=arguments.app)
        stream_run(arguments.out, 500_000_000, "running")
        print("something broke", file=sys.stderr)
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    if behaviour == "note":
        print("not real-time: SCHED_FIFO denied", file=sys.stderr)
    directory = write_run(arguments.out, arguments.executor, seconds, nth, app_file=arguments.app)
    (directory / "trace.pftrace").write_bytes(f"<{arguments.executor} {nth}>".encode())
    if behaviour == "broken":
        (directory / "chains.csv").write_text("nonsense\n", encoding="utf-8")
    return 0


def block(state: Path, behaviour: str) -> None:
    """Reports that it waits, and then waits for a signal to stop."""
    wanted = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    (state / "blocked").write_text(str(os.getpid()), encoding="utf-8")

    def received(number: int) -> None:
        with (state / "signals").open("a", encoding="utf-8") as signals:
            signals.write(signal.Signals(number).name + "\n")

    received(signal.sigwait(wanted))
    while behaviour == "stubborn":
        number = signal.sigwait(wanted)
        received(number)
        if number == signal.SIGTERM:
            sys.exit(143)


if __name__ == "__main__":
    sys.exit(main())
