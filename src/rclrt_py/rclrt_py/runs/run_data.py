# SPDX-License-Identifier: Apache-2.0
"""One run directory of the runner: results.json with the rows of its CSV files."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rclrt_py.errors import BadInput
from rclrt_py.runs.csv_reader import (
    FINISHED,
    STATUSES,
    ChainRow,
    InstanceRow,
    StallRow,
    read_chain_rows,
    read_instance_rows,
    read_output_rows,
    read_stall_rows,
)
from rclrt_py.runs.histograms import (
    CALLBACK,
    CAUSE_EFFECT,
    CHAIN,
    Histogram,
    Key,
    Times,
    read_histograms,
)
from rclrt_py.runs.results import Results
from rclrt_py.stats import Summary

RESULTS = "results.json"
CHAINS = "chains.csv"
OUTPUTS = "outputs.csv"
"""Only for an application with cause-effect chains."""
INSTANCES = "instances.csv"
HISTOGRAMS = "histograms.csv"
"""Only of a run that streamed; chains.csv and instances.csv then have a part of the instances."""
STALLS = "stalls.csv"
EXCESSES = "excesses.csv"
TRACE = "trace.pftrace"
MODEL = "observed.yaml"
"""The application with the observed execution times. A simulation has no such file."""
RUN_FILES = (
    RESULTS,
    CHAINS,
    OUTPUTS,
    INSTANCES,
    HISTOGRAMS,
    STALLS,
    EXCESSES,
    TRACE,
    MODEL,
)


def nanoseconds() -> array[int]:
    """Returns an empty column for times in nanoseconds. An array needs 8 bytes per value, so the
    values of a run of hours fit in memory."""
    return array("q")


@dataclass
class ChainSamples:
    """All instances of one chain in one run."""

    responses: array[int] = field(default_factory=nanoseconds)
    statuses: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))

    @property
    def released(self) -> int:
        return sum(self.statuses.values())

    @property
    def completed(self) -> int:
        return sum(self.statuses[status] for status in FINISHED)


@dataclass
class CauseEffectSamples:
    """All outputs of one cause-effect chain in one run."""

    ages: array[int] = field(default_factory=nanoseconds)
    ends: array[int] = field(default_factory=nanoseconds)
    """When each output came, since the start of the run."""
    reactions: array[int] = field(default_factory=nanoseconds)
    reaction_ends: array[int] = field(default_factory=nanoseconds)


@dataclass
class CallbackSamples:
    """All instances of one callback in one run."""

    responses: array[int] = field(default_factory=nanoseconds)
    dispatches: array[int] = field(default_factory=nanoseconds)
    executions: array[int] = field(default_factory=nanoseconds)


@dataclass(frozen=True)
class Run:
    """A run directory, with its results.json loaded."""

    directory: Path
    results: Results
    original: Path | None = None
    """The directory of which `directory` is a copy."""

    @classmethod
    def load(cls, directory: Path, original: Path | None = None) -> Run:
        return cls(directory, Results.load(directory / RESULTS), original)

    @property
    def place(self) -> Path:
        """The directory that the user named."""
        return self.original or self.directory

    def chain_rows(self) -> Iterator[ChainRow]:
        path = self.directory / CHAINS
        known = {chain.id for chain in self.results.chains}
        for row in read_chain_rows(path):
            if row.chain not in known:
                raise BadInput(f"{path}: chain '{row.chain}' is not in {RESULTS} beside it")
            yield row

    def instance_rows(self) -> Iterator[InstanceRow]:
        path = self.directory / INSTANCES
        known = {callback.id for callback in self.results.callbacks}
        for row in read_instance_rows(path):
            if row.callback not in known:
                raise BadInput(f"{path}: callback '{row.callback}' is not in {RESULTS} beside it")
            yield row

    def stalls(self) -> list[StallRow]:
        """Returns the intervals in which the virtual machine's host did not run a CPU. Empty: there
        were none, or the run has no file of them."""
        path = self.directory / STALLS
        return list(read_stall_rows(path)) if path.is_file() else []

    def chain_samples(self) -> dict[str, ChainSamples]:
        """Returns the instances of every chain; of a run that streamed, those that are kept. Throws
        BadInput if a file was cut short."""
        samples = {chain.id: ChainSamples() for chain in self.results.chains}
        for row in self.chain_rows():
            chain = samples[row.chain]
            chain.statuses[row.status] += 1
            if row.response is not None:
                chain.responses.append(row.response)
        for result in self.results.chains if self.results.streamed is None else ():
            found = samples[result.id]
            for what, here in (("released", found.released), ("completed", found.completed)):
                stated = getattr(result, what)
                if here != stated:
                    raise BadInput(
                        f"{self.directory / CHAINS}: {here} instances of chain '{result.id}' are "
                        f"{what}; expected the {stated} that {RESULTS} beside it states (measure "
                        "again)"
                    )
            certain = found.statuses["late"] + found.statuses["dropped"]
            if not certain <= result.missed <= certain + found.statuses["pending"]:
                raise BadInput(
                    f"{self.directory / CHAINS}: {certain} instances of chain '{result.id}' are "
                    f"late or dropped, but {RESULTS} beside it states {result.missed} missed; "
                    "measure again"
                )
        return samples

    def cause_effect_samples(self) -> dict[str, CauseEffectSamples]:
        """Returns the outputs of every cause-effect chain; of a run that streamed, those that are
        kept. Throws BadInput if their number is not that of the results."""
        results = self.results.cause_effect_chains
        samples = {chain.id: CauseEffectSamples() for chain in results}
        path = self.directory / OUTPUTS
        errors_ns = {chain.id: round((chain.error_ms or 0) * 1e6) for chain in results}
        for row in read_output_rows(path, errors_ns) if results else ():
            if row.chain not in samples:
                raise BadInput(f"{path}: chain '{row.chain}' is not in {RESULTS} beside it")
            found = samples[row.chain]
            found.ages.append(row.age)
            found.ends.append(row.end)
            if row.reaction is not None:
                found.reactions.append(row.reaction)
                found.reaction_ends.append(row.end)
        for chain in results if self.results.streamed is None else ():
            if len(samples[chain.id].ages) != chain.outputs:
                raise BadInput(
                    f"{path}: {len(samples[chain.id].ages)} outputs of chain '{chain.id}'; "
                    f"expected the {chain.outputs} that {RESULTS} beside it states (measure again)"
                )
        return samples

    def callback_samples(self) -> dict[str, CallbackSamples]:
        """Returns, for each callback, the response, dispatch and execution times of those of its
        instances that are kept and ran. A message that a synchroniser only kept for a later set
        does not count as a run."""
        samples = {callback.id: CallbackSamples() for callback in self.results.callbacks}
        for row in self.instance_rows():
            callback = samples[row.callback]
            if row.outcome == "ran":
                callback.responses.append(row.end - row.release)
                callback.dispatches.append(row.start - row.ready)
                callback.executions.append(row.cpu)
        return samples

    def chain_times(self) -> dict[str, Times]:
        """Returns the response times of all instances of every chain."""
        if self.results.streamed is None:
            return {name: Times(own.responses) for name, own in self.chain_samples().items()}
        found = self._histograms()
        return {
            each.id: self._times(found, (CHAIN, each.id, "response"), each.response)
            for each in self.results.chains
        }

    def callback_times(self) -> dict[str, tuple[Times, Times, Times]]:
        """Returns the response, dispatch and execution times of all instances of every callback."""
        if self.results.streamed is None:
            return {
                name: (Times(own.responses), Times(own.dispatches), Times(own.executions))
                for name, own in self.callback_samples().items()
            }
        found = self._histograms()
        return {
            each.id: (
                self._times(found, (CALLBACK, each.id, "response"), each.response),
                self._times(found, (CALLBACK, each.id, "dispatch"), each.dispatch),
                self._times(found, (CALLBACK, each.id, "execution"), each.execution),
            )
            for each in self.results.callbacks
        }

    def cause_effect_times(self) -> dict[str, tuple[Times, Times]]:
        """Returns the reaction times and the data ages of all outputs of every cause-effect
        chain."""
        if self.results.streamed is None:
            return {
                name: (Times(own.reactions), Times(own.ages))
                for name, own in self.cause_effect_samples().items()
            }
        found = self._histograms()
        return {
            each.id: (
                self._times(found, (CAUSE_EFFECT, each.id, "reaction"), each.reaction),
                self._times(found, (CAUSE_EFFECT, each.id, "age"), each.age),
            )
            for each in self.results.cause_effect_chains
        }

    def _histograms(self) -> dict[Key, Histogram]:
        """Reads the histograms. Throws BadInput if they do not have all instances of a chain."""
        path = self.directory / HISTOGRAMS
        found = read_histograms(path)
        for chain in self.results.chains:
            total = found.get((CHAIN, chain.id, "response"), Histogram()).total
            if total != chain.completed:
                raise BadInput(
                    f"{path}: {total} instances of chain '{chain.id}'; expected the "
                    f"{chain.completed} completed ones that {RESULTS} beside it states (measure "
                    "again)"
                )
        return found

    def _times(self, found: dict[Key, Histogram], key: Key, summary: Summary | None) -> Times:
        histogram = found.get(key, Histogram())
        if (summary is None) != (histogram.total == 0):
            expected = "none" if summary is None else "some"
            raise BadInput(
                f"{self.directory / HISTOGRAMS}: {histogram.total} {key[2]} times of {key[0]} "
                f"'{key[1]}'; expected {expected}, as {RESULTS} beside it states (measure again)"
            )
        return Times(histogram=histogram, summary=summary)
