# SPDX-License-Identifier: Apache-2.0
"""The host's effect on runs on ROS 2, for runs.csv and the pages."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rclrt_experiments.rows import RUN_KEY, Row

QUIET = 0.005
"""The share of a run's time that the host may take. Only this decides whether a run is repeated."""
Run = Mapping[str, str]
Key = tuple[str, ...]
OF_THE_MACHINE = ("cpu_model", "cpus", "kernel", "rmw", "realtime")


def key_of(run: Run) -> Key:
    return tuple(run[name] for name in RUN_KEY)


def key_of_row(row: Row) -> Key:
    """Returns the key of the row's run."""
    return tuple(str(getattr(row, name)) for name in RUN_KEY)


def disturbed(runs: Sequence[Run], seconds: Mapping[str, float]) -> set[Key]:
    """Returns the keys of the runs in which the host took more than the share QUIET of the CPU
    time. `seconds`: how long a run lasts, by the name of the experiment."""
    return {
        key_of(run)
        for run in runs
        if float(run["steal_ms"]) / 1e3 > QUIET * seconds[run["experiment"]]
    }


def without_the_hosts(rows: Sequence[Row], runs: Sequence[Run]) -> list[Row]:
    """Returns the rows of complete runs, without the misses that the host caused. The host caused a
    miss if the instance would have met its deadline without the time for which the host stopped a
    CPU. Old runs have only the total of such misses: then a run's misses are removed only if the
    host caused all of them."""
    of = {key_of(run): run for run in runs}
    result: list[Row] = []
    for key, group in itertools.groupby(rows, key_of_row):
        own = list(group)
        run = of.get(key)
        if run is None or int(run["missed_host"]) == 0:
            hosts = [0] * len(own)
        elif counts := run.get("missed_host_of", ""):
            hosts = list(map(int, counts.split()))
        else:
            are_all = sum(row.missed for row in own) <= int(run["missed_host"])
            hosts = [row.missed if are_all else 0 for row in own]
        result += [
            replace(row, missed=row.missed - host) for row, host in zip(own, hosts, strict=True)
        ]
    return result


def stalls_ms(runs: Sequence[Run]) -> dict[Key, float]:
    """Returns the total time for which the host stopped CPUs, by run."""
    return {key_of(run): float(run["stall_ms"]) for run in runs}


def host_sentences(runs: Sequence[Run], seconds: Mapping[str, float]) -> Iterator[str]:
    """Yields sentences on the machine and the time that the host took."""
    machines = list(dict.fromkeys(tuple(run[name] for name in OF_THE_MACHINE) for run in runs))
    for machine in machines:
        model, cpus, kernel, rmw, realtime = machine
        count = sum(tuple(run[name] for name in OF_THE_MACHINE) == machine for run in runs)
        of = f" ({count} of the runs)" if len(machines) > 1 else ""
        yield (
            f"{model}, {cpus} CPUs, Linux {kernel}, {rmw}; "
            f"{'real-time' if realtime == 'True' else 'NOT real-time'} scheduling{of}."
        )
    again = sum(int(run["tries"]) > 1 for run in runs)
    stolen = sum(float(run["steal_ms"]) for run in runs)
    missed = sum(int(run["missed_host"]) for run in runs)
    started = sorted(run["started_utc"] for run in runs)
    yield (
        f"{len(runs)} runs between {started[0]} and {started[-1]}, one at a time; {again} were "
        f"made again because the host took more than {100 * QUIET:g} % of their time. In those "
        f"that count it took {stolen:.0f} ms in all, more than {100 * QUIET:g} % in "
        f"{len(disturbed(runs, seconds))} of them."
    )
    yield (
        f"{sum(int(run['stalls']) for run in runs)} times a CPU did not run what was ready there, "
        f"even at the highest priority; the longest time was "
        f"{max(float(run['worst_stall_ms']) for run in runs):.1f} ms. It is the host, or the "
        "kernel, which by default keeps 5 % of each second from real-time threads where they would "
        f"take more. {missed} of the instances that missed would have been in time without it"
        + (": they are in rows.csv, and do not count as misses here." if missed else ".")
    )
