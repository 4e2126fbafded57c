# SPDX-License-Identifier: Apache-2.0
"""Checks the language of comments, messages and documentation.

The reader knows the field's words, has five minutes, and English as a second language. This reads
the comments and longer texts of C++, Python, JavaScript, shell and CMake (also the texts that users
see), the comments of YAML, messages and makefiles, the descriptions of schemas and packages, and
all Markdown and reStructuredText outside of code.

Usage: lint_language.py [PATH_PREFIX...]
"""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
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


CODE = re.compile(r"``?[^`\n]+``?")
HASH = re.compile(r"(?m)(?:^|(?<=\s))#(?!!)(?P<text>[^\n]*)$")
QUOTED = re.compile(r'"(?P<text>(?:\\.|[^"\\])*)"')
DESCRIPTION = re.compile(r'"description"\s*:\s*(?P<text>"(?:\\.|[^"\\])*")')
XML = re.compile(r"(?s)(?:<!--|<description>)(?P<text>.*?)(?:-->|</description>)")


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


def of_hash(source: str) -> Iterator[Prose]:
    """Comments from `#` to the end of the line: YAML, makefiles, messages."""
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        if (comment := HASH.search(line)) is not None:
            found.append((number, comment["text"]))
    yield from joined(found)


def of_script(source: str) -> Iterator[Prose]:
    """Comments, and texts in quotes: shell and CMake."""
    yield from of_hash(source)
    for match in QUOTED.finditer(HASH.sub("", source)):
        if is_text(match["text"]):
            line = source.count("\n", 0, match.start()) + 1
            yield Prose(line, " ".join(match["text"].split()), False)


def of_schema(source: str) -> Iterator[Prose]:
    """The descriptions of a JSON schema."""
    for match in DESCRIPTION.finditer(source):
        yield Prose(source.count("\n", 0, match.start()) + 1, json.loads(match["text"]), False)


def of_xml(source: str) -> Iterator[Prose]:
    """Comments and descriptions of a package.xml or a similar file."""
    for match in XML.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        yield Prose(line, " ".join(match["text"].split()), False)


def of_markup(source: str) -> Iterator[Prose]:
    plain = re.sub(r"```.*?```|<!--.*?-->", lambda m: "\n" * m[0].count("\n"), source, flags=re.S)
    plain = CODE.sub("it", plain)
    plain = re.sub(r"\]\([^)]*\)", "]", plain)
    line = 1
    for part in re.split(r"(\n\s*\n)", plain):
        for piece in re.split(r"\n(?=\s*[*\-|]|\s*\d+\.)", part):
            for cell in piece.split("|"):
                if is_text(cell):
                    yield Prose(line, " ".join(cell.replace("*", "").split()), False)
        line += part.count("\n")


READERS = {
    **dict.fromkeys((".cpp", ".hpp", ".c", ".h", ".js"), of_cpp),
    **dict.fromkeys((".py", ".pyi"), of_python),
    **dict.fromkeys((".md", ".rst"), of_markup),
    **dict.fromkeys((".cmake", ".sh", ".bash", ".zsh"), of_script),
    **dict.fromkeys((".yaml", ".yml", ".msg", ".srv", ".toml", ".cfg"), of_hash),
    ".xml": of_xml,
    ".schema.json": of_schema,
    "CMakeLists.txt": of_script,
    "Makefile": of_hash,
}
SHEBANGS = {"python3": of_python, "sh": of_script, "bash": of_script}


def reader_of(path: Path, source: str) -> Callable[[str], Iterator[Prose]] | None:
    """Returns the reader for a file: by its name, its suffix, or its first line."""
    if (reader := READERS.get(path.name) or READERS.get("".join(path.suffixes[-2:]))) is not None:
        return reader
    first = re.match(r"#!.*?(\w+)\n", source)
    return READERS.get(path.suffix) or SHEBANGS.get(first[1] if first else "")


def matches(rule: Rule, text: str) -> Iterator[str]:
    for match in rule.pattern.finditer(text):
        if rule.name == "who" and re.search(rf"\b{PEOPLE},? $", text[: match.start()], re.I):
            continue
        yield match[0]


def problems(prose: Prose, names: set[str]) -> Iterator[str]:
    text = CODE.sub("it", prose.text)
    for rule in RULES:
        for found in matches(rule, text):
            yield f"'{found[:60]}': {rule.advice}"
    if prose.is_comment:
        for found in NAME.findall(prose.text):
            if found not in names:
                yield f"'{found}': no identifier of the sources has this name"


def without_comments(path: Path, source: str) -> str:
    reader = reader_of(path, source)
    if reader is of_cpp:
        return re.sub(r"//[^\n]*", "", source)
    return source if reader in (None, of_markup) else re.sub(r"(?m)#[^\n]*", "", source)


def identifiers(sources: dict[Path, str]) -> set[str]:
    """The words with an underscore in code, texts and other files: all but comments."""
    found: set[str] = set()
    for path, source in sources.items():
        found.update(re.findall(r"\b[A-Za-z]\w*_\w+\b", without_comments(path, source)))
    return found


def check_rules() -> None:
    """Each rule finds its wrong example and not its right one."""
    for rule in RULES:
        assert list(matches(rule, rule.wrong)), rule.name
        assert not list(matches(rule, rule.right)), rule.name


def main(prefixes: list[str]) -> int:
    check_rules()
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    sources = {}
    for name in listed:
        path = ROOT / name
        if path.is_file() and path.suffix not in (".png", ".svg", ".gz", ".xz", ".csv"):
            sources[path] = path.read_text(encoding="utf-8", errors="replace")
    names = identifiers(sources)
    found = read = 0
    for path, source in sources.items():
        name = str(path.relative_to(ROOT))
        reader = reader_of(path, source)
        if reader is None or path == Path(__file__) or not name.startswith(tuple(prefixes or [""])):
            continue
        read += 1
        for prose in reader(source):
            for text in problems(prose, names):
                print(f"{name}:{prose.line}: {text}")
                found += 1
    print(f"{read} files, {found} sentence(s) to mend")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
