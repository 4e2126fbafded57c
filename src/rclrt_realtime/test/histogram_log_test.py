# SPDX-License-Identifier: Apache-2.0
"""PyPI's hdrhistogram and rclrt read each other's logs.

RCLRT_SAMPLE names the program built from histogram_log_sample.cpp.
"""

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

REASON = "needs PyPI's hdrhistogram (make setup installs it)"
HdrHistogram = pytest.importorskip("hdrh.histogram", reason=REASON).HdrHistogram
HistogramLogReader = pytest.importorskip("hdrh.log", reason=REASON).HistogramLogReader
HistogramLogWriter = pytest.importorskip("hdrh.log", reason=REASON).HistogramLogWriter

HOUR_NS = 3_600_000_000_000
START_MS = 1_763_800_000_000


def run(action: str, path: Path, values: list[list[int]] | None = None) -> list[dict[str, Any]]:
    program = os.environ["RCLRT_SAMPLE"]
    lines = "".join(" ".join(map(str, line)) + "\n" for line in values or [])
    result = subprocess.run(
        [program, action, str(path)], input=lines, check=True, capture_output=True, text=True
    )
    return [json.loads(line) for line in result.stdout.splitlines()]


def latencies(seed: int, count: int) -> list[int]:
    """Returns a multiple of 1000 samples, so that percentiles of three decimals are whole ranks."""
    generator = random.Random(seed)
    return [min(int(generator.lognormvariate(11, 2.5)), HOUR_NS) for _ in range(count)]


SAMPLES = [latencies(1, 10_000), [0, 1, 2047, 2048, HOUR_NS] * 200, [7] * 1000]


def expect_same(ours: dict[str, Any], theirs: Any) -> None:
    counts = {str(i): count for i, count in enumerate(theirs.counts) if count}
    assert ours["counts"] == counts
    assert ours["count"] == theirs.get_total_count()
    assert ours["min"] == theirs.get_min_value()
    assert ours["max"] == theirs.get_max_value()
    percentiles = {float(percent): value for percent, value in ours["percentiles"].items()}
    assert percentiles == theirs.get_percentile_to_value_dict(list(percentiles))
    assert ours["mean"] == pytest.approx(theirs.get_mean_value())
    assert ours["stddev"] == pytest.approx(theirs.get_stddev())


def theirs_from(path: Path) -> list[Any]:
    reader = HistogramLogReader(str(path), HdrHistogram(1, HOUR_NS, 3))
    found = []
    while (histogram := reader.get_next_interval_histogram()) is not None:
        found.append(histogram)
    reader.close()
    return found


def test_python_reads_what_we_wrote(tmp_path: Path) -> None:
    path = tmp_path / "ours.hlog"
    ours = run("write", path, SAMPLES)
    theirs = theirs_from(path)
    assert len(theirs) == len(ours) == len(SAMPLES)
    for number, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        assert their.get_tag() == f"line{number}"
        assert their.get_start_time_stamp() == pytest.approx(START_MS + 1000 * number)
        assert their.get_end_time_stamp() == pytest.approx(START_MS + 1000 * (number + 1))
        assert their.get_total_count() == len(SAMPLES[number])
        expect_same(our, their)


@pytest.mark.parametrize(
    ("lowest", "highest", "digits"),
    [(1, HOUR_NS, 3), (1, HOUR_NS, 2), (1000, HOUR_NS, 3), (1, HOUR_NS, 1), (1, HOUR_NS, 4)],
)
def test_we_read_what_python_wrote(tmp_path: Path, lowest: int, highest: int, digits: int) -> None:
    path = tmp_path / "theirs.hlog"
    written = []
    with path.open("w", encoding="utf-8") as file:
        writer = HistogramLogWriter(file)
        writer.output_log_format_version()
        writer.output_base_time(0)
        writer.output_legend()
        for number, values in enumerate(SAMPLES):
            histogram = HdrHistogram(lowest, highest, digits)
            for value in values:
                assert histogram.record_value(value)
            histogram.set_start_time_stamp(START_MS + 1000 * number)
            histogram.set_end_time_stamp(START_MS + 1000 * number + 500)
            writer.output_interval_histogram(histogram)
            written.append(histogram)
    ours = run("read", path)
    assert len(ours) == len(written)
    for number, (our, their) in enumerate(zip(ours, written, strict=True)):
        assert our["start_ns"] == (START_MS + 1000 * number) * 1_000_000
        assert our["length_ns"] == 500_000_000
        # Equal to what the Python library reads back: to the resolution of the buckets.
        expect_same(our, HdrHistogram.decode(their.encode()))


def test_we_read_again_what_we_wrote(tmp_path: Path) -> None:
    path = tmp_path / "ours.hlog"
    assert run("write", path, SAMPLES) == run("read", path)
