# SPDX-License-Identifier: Apache-2.0
"""Checks the comments of headers: that of each file, and that of every public function.

A header begins with the licence, then a comment (`//`) on its content, then `#pragma once`.

A comment (`///`) of a public function or function template (headers in src/*/include) begins with a
verb in the third person: "Returns", "Waits until", "Throws". Comments of types, of values and of
groups of declarations describe what something is, and are not checked.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NO_VERB = {
    *("This", "Is", "Has", "Its", "As", "Always", "Does", "Whose", "Others", "Was"),
    *("Callbacks", "Digits", "Dumps", "Events", "Futures", "Instances", "Lines", "Messages"),
    *("Milliseconds", "Readers", "Responses", "Stretches", "Ticks", "Times", "Tokens"),
}
"""Words that end like a verb in the third person, but are no verb or have no content."""
TYPE = re.compile(
    r"^\s*(template\s*<.*>\s*)?(requires .*)?(class|struct|enum|union|using|namespace|concept|"
    r"typedef|friend|static_assert|#|inline constexpr|constexpr|static constexpr|extern)\b"
)


def declaration(lines: list[str], index: int) -> str:
    """Returns the declaration from a line up to its end or body, without template heads."""
    text = ""
    while index < len(lines) and not re.search(r"[;{]", text):
        text += " " + lines[index].split("//")[0].strip()
        index += 1
    return re.sub(r"^\s*template\s*<[^()]*?>\s+(?=\w)", "", text)


def is_function(text: str) -> bool:
    if TYPE.match(text) or text.lstrip().startswith(("#", "RCLRT_LOG", "}")):
        return False
    head = re.split(r"[={;]", text)[0]
    if not re.search(r"[\w~>\]=!()]\s*\(", head):
        return False
    return not re.search(r"\(\s*\*|std::function<", head.split("(")[0] + "(")


def problems(path: Path) -> Iterator[str]:
    lines = path.read_text().splitlines()
    for index, line in enumerate(lines):
        found = re.match(r"\s*///(?!<) ?(.*)", line)
        before = lines[index - 1].strip() if index else ""
        if not found or before.startswith("///"):
            continue
        end = index
        while end < len(lines) and lines[end].strip().startswith("///"):
            end += 1
        if not is_function(declaration(lines, end)):
            continue
        word = re.match(r"[\w']+", found[1])
        if word is None or not re.fullmatch(r"[A-Z][a-z]+s", word[0]) or word[0] in NO_VERB:
            yield (
                f"{path.relative_to(ROOT)}:{index + 1}: the comment of a function begins with "
                f"'{found[1][:30]}'; expected a verb, such as Returns, Waits or Throws"
            )


def head_problems(path: Path) -> Iterator[str]:
    lines = path.read_text().splitlines()
    head = lines[1 : lines.index("#pragma once")] if "#pragma once" in lines else []
    if not head or not all(re.fullmatch(r"//( .*)?", line) for line in head):
        yield (
            f"{path.relative_to(ROOT)}:2: expected a comment (//) that says what is in this file, "
            "between the licence and #pragma once"
        )


def main() -> int:
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.hpp"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    headers = [path for path in map(ROOT.joinpath, tracked.stdout.splitlines()) if path.is_file()]
    public = sorted(ROOT.glob("src/*/include/**/*.hpp"))
    found = [problem for path in headers for problem in head_problems(path)]
    found += [problem for path in public for problem in problems(path)]
    print("\n".join([*found, f"{len(headers)} headers, {len(found)} comments to mend"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
