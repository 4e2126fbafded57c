# SPDX-License-Identifier: Apache-2.0
"""The table of the capabilities of executors agrees with the results of the tests."""

from __future__ import annotations

import os
from pathlib import Path

import capabilities
import pytest
from capabilities import Row

DOCUMENT = Path(__file__).resolve().parents[3] / "docs/reference/capabilities.md"


def test_the_document_is_what_the_tests_say() -> None:
    if not DOCUMENT.exists():
        pytest.skip("the package was taken out of its repository")
    table = capabilities.run(os.environ["CAPABILITIES"])
    committed = DOCUMENT.read_text()
    capabilities.fill_in(table, capabilities.parse(committed))
    assert capabilities.render(table) == committed, "write it anew: see its first lines"


def test_a_row_is_named_by_its_test() -> None:
    assert capabilities.sentence("TwoCallbacksRunAtOnceOnTwoCpus") == (
        "Two callbacks run at once on two CPUs"
    )


def test_results_become_a_table(tmp_path: Path) -> None:
    xml = tmp_path / "results.xml"
    xml.write_text("""<testsuites><testsuite name="Every/SteadyState">
<testcase name="Timers/a"/>
<testcase name="Timers/b"><skipped message="x:1&#x0A;not offered, because it is old"/></testcase>
<testcase name="Timers/c"><skipped message="x:1&#x0A;cannot be shown here: one CPU"/></testcase>
<testcase name="Timers/d"><failure message="x"/></testcase>
</testsuite></testsuites>""")
    row = capabilities.read_results(xml)["Timers"]
    assert row.section == "Steady state"
    assert row.cells == {"a": None, "b": "it is old"}
    assert row.unknown == {"c": "cannot be shown here: one CPU"}
    assert row.failed == ["d"]


def test_a_document_is_read_as_it_was_written() -> None:
    table = {
        "Timers": Row("Callbacks", {"a": None, "b": "it is old"}),
        "Actions": Row("Callbacks", {"a": "it is young", "b": None}),
        "Cancel": Row("Life cycle", {"a": None, "b": "it is old"}),
    }
    document = capabilities.render(table)
    assert "| Timers | yes | no (1) |" in document
    assert "| Actions | no (2) | yes |" in document
    assert capabilities.parse(document) == table


def test_what_cannot_be_told_here_is_taken_from_the_document() -> None:
    known = {"Timers": Row("Callbacks", {"a": "it is old"})}
    table = {"Timers": Row("Callbacks", {}, {"a": "one CPU"})}
    capabilities.fill_in(table, known)
    assert table == known
    new = {"Actions": Row("Callbacks", {}, {"a": "one CPU"})}
    with pytest.raises(RuntimeError, match=r"Actions.*one CPU"):
        capabilities.fill_in(new, known)
