# SPDX-License-Identifier: Apache-2.0
"""Checks that no source file is longer than 400 lines and no function longer than 60.

A function's lines are counted from its opening brace (C++) or its `def` (Python) to its end. C++
functions are found by their indentation, which clang-format enforces.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE = 400
MAX_FUNCTION = 60
SOURCES = {".cpp", ".hpp", ".py", ".sh", ".js", ".cmake"}
NOT_A_FUNCTION = re.compile(
    r"^\s*(template\s*<.*>\s*)?(namespace|class|struct|enum|union|extern)\b|=\s*\{$"
)


def python_functions(text: str) -> Iterator[tuple[int, str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            yield node.lineno, node.name, node.end_lineno - node.lineno + 1


def cpp_functions(text: str) -> Iterator[tuple[int, str, int]]:
    """Yields blocks with the indentation of functions: 0, or 2 and 4 within classes."""
    open_blocks: list[tuple[int, int, str]] = []  # indentation, line, text
    for number, line in enumerate(text.splitlines(), 1):
        indentation = len(line) - len(line.lstrip())
        if line.lstrip().startswith("}"):
            while open_blocks and open_blocks[-1][0] > indentation:
                open_blocks.pop()
            if open_blocks and open_blocks[-1][0] == indentation:
                _, begin, head = open_blocks.pop()
                yield begin, head.strip(), number - begin + 1
        if line.endswith("{") and indentation <= 4 and not NOT_A_FUNCTION.search(line):
            open_blocks.append((indentation, number, line))


def problems(path: Path) -> Iterator[str]:
    text = path.read_text()
    name = path.relative_to(ROOT)
    lines = text.count("\n")
    if lines > MAX_FILE:
        yield f"{name}: {lines} lines; expected {MAX_FILE} at the most: one idea per file"
    functions: Iterator[tuple[int, str, int]] = iter(())
    if path.suffix == ".py":
        functions = python_functions(text)
    elif path.suffix in {".cpp", ".hpp"}:
        functions = cpp_functions(text)
    for number, head, length in functions:
        if length > MAX_FUNCTION:
            yield f"{name}:{number}: {length} lines; expected {MAX_FUNCTION} at the most: {head}"


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [ROOT / name for name in listed.stdout.splitlines()]
    sources = [path for path in paths if path.suffix in SOURCES and path.is_file()]
    found = [problem for path in sources for problem in problems(path)]
    print(
        "\n".join([*found, f"{len(sources)} files, {len(found)} too long or with long functions"])
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
