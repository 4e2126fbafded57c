# SPDX-License-Identifier: Apache-2.0
"""Checks the language of comments, messages and documentation.

The reader knows the field's words, has five minutes, and English as a second language. Read are the
comments and longer texts of C++ and Python (also the texts that users see), and all Markdown and
reStructuredText outside of code. `lint_language.json` counts for each file what is still wrong: a
count that grows is an error, and so is one that could be lower. `--shrink` lowers the counts.

Usage: lint_language.py [--shrink] [--show] [PATH_PREFIX...]
"""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KNOWN = ROOT / "tools" / "lint_language.json"
LONG_TEXT = 3
"""Words from which on a string is read as a text."""
PEOPLE = (
    r"(?:people|person|persons|users?|engineers?|readers?|developers?|authors?|maintainers?|"
    r"operators?|students?|reviewers?|those|anyone|everyone|someone|one)"
)


@dataclass(frozen=True)
class Rule:
    name: str
    pattern: re.Pattern[str]
    wrong: str
    right: str
    advice: str


RULES = (
    Rule(
        "who",
        re.compile(
            r"(?<!\w)(?<!/)(?:whose|whom|whoever|nobody|somebody|(?<!-)who)\b(?![-']?s\b)", re.I
        ),
        "the worker whose turn it is",
        "the worker that is next",
        "a thing is not a person: name it, with 'that' or 'of which'",
    ),
    Rule(
        "opening",
        re.compile(r"(?:^|(?<=[.!?:] ))(?:Of (?!course)[^.?!]*|What [^.?!]*)(?=[.;]|$)"),
        "Of a callback those that may release it.",
        "Returns the callbacks that may release it.",
        "a sentence begins with its subject, not with 'Of ...' or 'What ...'",
    ),
    Rule(
        "for",
        re.compile(
            r", for (?:it|they|he|there|that|this|these|those|(?:the |a |an )?[\w-]+) "
            r"(?:is|are|was|has|have|had|may|can|could|would|must|does|do|knows?|comes?|takes?)\b"
        ),
        "It waits, for the worker has the lock.",
        "It waits because the worker has the lock.",
        "write 'because', and the fact first",
    ),
    Rule(
        "speech",
        re.compile(r"\b(?:tells? of|told|is said|are said|(?<!stood )stands(?! for\b| still\b))\b"),
        "The log is told of the miss, which stands in the file.",
        "The log has the miss, which is in the file.",
        "files and programs do not speak or stand: report, has, is in, contains",
    ),
)
NAME = re.compile(r"(?<![\w./:<\"'`-])[a-z]{2,}(?:_[a-z0-9]{2,})+(?![\w./:>\"'`(-])")
CPP = re.compile(
    r'R"(?P<delimiter>[^(\s]*)\((?P<raw>.*?)\)(?P=delimiter)"|"(?P<text>(?:\\.|[^"\\\n])*)"|'
    r"'(?:\\.|[^'\\\n])*'|//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/",
    re.DOTALL,
)


@dataclass(frozen=True)
class Prose:
    """A paragraph, and the line on which it begins."""

    line: int
    text: str
    is_comment: bool


def is_text(text: str) -> bool:
    return len(re.findall(r"[A-Za-z]{2,}", text)) >= LONG_TEXT and " " in text.strip()


def joined(lines: list[tuple[int, str]]) -> Iterator[Prose]:
    """Comments of lines that follow each other are one paragraph; an empty one ends it."""
    start, text, last = 0, "", -1
    for number, line in [*lines, (-1, "")]:
        content = line.strip()
        if text and (number != last + 1 or not content):
            yield Prose(start, text, True)
            text = ""
        if content:
            start, text = (number, content) if not text else (start, f"{text} {content}")
        last = number


def of_cpp(source: str) -> Iterator[Prose]:
    comments: list[tuple[int, str]] = []
    for match in CPP.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        if match["line"] is not None:
            comments.append((line, match["line"].lstrip("/!<")))
        elif match["block"] is not None:
            for offset, part in enumerate(match["block"].splitlines()):
                comments.append((line + offset, part.lstrip(" *")))
        elif match["text"] and is_text(match["text"]):
            yield Prose(line, match["text"], False)
    yield from joined(comments)


def of_python(source: str) -> Iterator[Prose]:
    comments = [
        (token.start[0], token.string.lstrip("#! "))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    yield from joined(comments)
    tree = ast.parse(source)
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and is_text(node.value):
            for offset, part in enumerate(re.split(r"\n\s*\n", node.value)):
                yield Prose(node.lineno + offset, " ".join(part.split()), id(node) in docs)


def of_markup(source: str) -> Iterator[Prose]:
    plain = re.sub(r"```.*?```|<!--.*?-->", lambda m: "\n" * m[0].count("\n"), source, flags=re.S)
    plain = re.sub(r"``?[^`\n]+``?", "it", plain)
    plain = re.sub(r"\]\([^)]*\)", "]", plain)
    line = 1
    for part in re.split(r"(\n\s*\n)", plain):
        for piece in re.split(r"\n(?=\s*[*\-|]|\s*\d+\.)", part):
            for cell in piece.split("|"):
                if is_text(cell):
                    yield Prose(line, " ".join(cell.replace("*", "").split()), False)
        line += part.count("\n")


READERS = {
    ".cpp": of_cpp,
    ".hpp": of_cpp,
    ".py": of_python,
    ".pyi": of_python,
    ".md": of_markup,
    ".rst": of_markup,
}


def matches(rule: Rule, text: str) -> Iterator[str]:
    for match in rule.pattern.finditer(text):
        if rule.name == "who" and re.search(rf"\b{PEOPLE},? $", text[: match.start()], re.I):
            continue
        yield match[0]


def problems(prose: Prose, names: set[str]) -> Iterator[tuple[str, str]]:
    for rule in RULES:
        for found in matches(rule, prose.text):
            yield rule.name, f"'{found[:60]}': {rule.advice}"
    if prose.is_comment:
        for found in NAME.findall(prose.text):
            if found not in names:
                yield "name", f"'{found}': no identifier of the sources has this name"


def identifiers(sources: dict[Path, str]) -> set[str]:
    """The words with an underscore in code, texts and other files: all but comments."""
    found: set[str] = set()
    for path, source in sources.items():
        code = re.sub(r"//[^\n]*", "", source) if path.suffix in (".cpp", ".hpp") else source
        code = re.sub(r"(?m)#[^\n]*", "", code) if path.suffix in (".py", ".pyi") else code
        found.update(re.findall(r"\b[A-Za-z]\w*_\w+\b", code))
    return found


def check_rules() -> None:
    """Each rule finds its wrong example and not its right one."""
    for rule in RULES:
        assert list(matches(rule, rule.wrong)), rule.name
        assert not list(matches(rule, rule.right)), rule.name


def main(arguments: list[str]) -> int:
    check_rules()
    options = {each for each in arguments if each.startswith("--")}
    prefixes = tuple(each for each in arguments if not each.startswith("--"))
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    sources = {}
    for name in listed:
        path = ROOT / name
        if path.is_file() and path.suffix not in (".png", ".svg", ".gz", ".xz", ".json", ".csv"):
            sources[path] = path.read_text(encoding="utf-8", errors="replace")
    names = identifiers(sources)
    found: dict[str, Counter[str]] = {}
    for path, source in sources.items():
        name = str(path.relative_to(ROOT))
        reader = READERS.get(path.suffix)
        if reader is None or name == "tools/lint_language.py":
            continue
        counts: Counter[str] = Counter()
        for prose in reader(source):
            for rule, text in problems(prose, names):
                counts[rule] += 1
                if "--show" in options and name.startswith(prefixes or ("",)):
                    print(f"{name}:{prose.line}: {text}")
        if counts:
            found[name] = counts
    known: dict[str, dict[str, int]] = json.loads(KNOWN.read_text()) if KNOWN.exists() else {}
    if "--shrink" in options:
        least = {
            name: {
                rule: min(count, known[name].get(rule, 0)) if known else count
                for rule, count in sorted(counts.items())
            }
            for name, counts in sorted(found.items())
            if not known or name in known
        }
        KNOWN.write_text(json.dumps(least, indent=0, sort_keys=True) + "\n")
        known = least
    worse = 0
    for name in sorted(found.keys() | known.keys()):
        for rule in sorted(found.get(name, Counter()).keys() | known.get(name, {}).keys()):
            now, before = found.get(name, Counter())[rule], known.get(name, {}).get(rule, 0)
            if now > before:
                print(f"{name}: {now} of '{rule}', {before} known (see: --show {name})")
            elif now < before:
                print(f"{name}: {now} of '{rule}', {before} known: lint_language.py --shrink")
            worse += now != before
    total = Counter[str]()
    for counts in found.values():
        total.update(counts)
    print(f"{len(sources)} files, still wrong: {dict(sorted(total.items()))}, {worse} changed")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
