# SPDX-License-Identifier: Apache-2.0
"""Mutated overheads files and batches, the same every time. Any bytes give an answer, or an error
that names the place. RCLRT_FUZZ_ITERATIONS sets the number, RCLRT_FUZZ_SEED other mutations."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest
from measured_overheads import APP, MEASURED
from rclrt_cli.main import main
from rclrt_py.bounds.machine import HOPS, STATISTICS, OverheadsFile
from rclrt_py.errors import BadInput
from rclrt_py.executors import EXECUTORS
from rclrt_py.native import analysis, load_application

ITERATIONS = int(os.environ.get("RCLRT_FUZZ_ITERATIONS", "3000"))
SEED = int(os.environ.get("RCLRT_FUZZ_SEED", "1"))
PER_BATCH = 500
TOKENS = (
    b"null",
    b"-1",
    b"1e400",
    b"NaN",
    b"{}",
    b"[]",
    b'"',
    b",",
    b":",
    b"1e9",
    b"\xff",
    b"9" * 400,
)
SET = {
    "rclrt": 1,
    "policy": "fp_nonpreemptive",
    "tasks": [{"id": "a", "c": 1, "t": 4}, {"id": "b", "c": 0.5, "t": 8, "d": 7, "j": 0.25}],
}


class Mutator:
    def __init__(self, *documents: object) -> None:
        self._random = random.Random(SEED)
        self._texts = [json.dumps(document).encode() for document in documents]

    def choice(self, words: tuple[str, ...]) -> str:
        return self._random.choice(words)

    def next(self) -> bytes:
        """Returns a document after up to three mutations; none of them is a line end."""
        text = bytearray(self._random.choice(self._texts))
        for _ in range(self._random.randrange(4)):
            at = self._random.randrange(len(text) + 1)
            to = min(len(text), at + self._random.choice((0, 1, 1, 4, 20)))
            kind = self._random.randrange(4)
            if kind == 0:
                text[at:to] = self._random.choice(TOKENS)
            elif kind == 1:
                text[at:to] = b""
            elif kind == 2:
                text[at:at] = text[at:to]
            else:
                text[at:to] = bytes(self._random.randrange(32, 256) for _ in range(to - at))
        return bytes(text)


def test_overheads_are_read_or_the_error_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "overheads.json"
    application = load_application(Path(APP))
    mutator = Mutator(MEASURED, {**MEASURED, "background_us": {"n": 3, "max": 7}})
    accepted = 0
    errors: list[str] = []
    for number in range(ITERATIONS):
        file.write_bytes(mutator.next())
        try:
            executor = mutator.choice(EXECUTORS)
            machine = OverheadsFile(file, mutator.choice(STATISTICS)).machine(
                application, executor, mutator.choice(HOPS)
            )
        except BadInput as error:
            errors.append(str(error))
            continue
        accepted += 1
        if number % 50 == 0:
            judgement = analysis().judge(application, executor, machine)
            assert len(judgement.chains) == len(application.chains)
    assert all(str(file) in error for error in errors)
    assert ITERATIONS / 20 < accepted < ITERATIONS * 0.8


def test_each_line_of_a_batch_has_one_line_of_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sets.jsonl"
    mutator = Mutator(SET, {**SET, "policy": "edf"}, {**SET, "policy": "fp_limited_preemptive"})
    answered = 0
    for _ in range(0, ITERATIONS, PER_BATCH):
        lines = [mutator.next() for _ in range(PER_BATCH)]
        file.write_bytes(b"\n".join(lines) + b"\n")
        assert main(["analyze", "--batch", str(file)]) == 2
        results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        full = [number for number, line in enumerate(lines, 1) if line.strip()]
        assert [result["line"] for result in results] == full
        for result in results:
            assert ("error" in result) != ("schedulable" in result)
            assert str(file) in result.get("error", str(file))
        answered += sum("schedulable" in result for result in results)
    assert answered > ITERATIONS / 20
