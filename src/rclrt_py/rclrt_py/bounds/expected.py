# SPDX-License-Identifier: Apache-2.0
"""The bounds that runs are compared with, and the judges of what is above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rclrt_py.bounds.excesses import excesses_csv
from rclrt_py.bounds.judging import Judge
from rclrt_py.bounds.machine import OverheadsFile
from rclrt_py.bounds.predicted import Predictions, predict
from rclrt_py.files.atomic import write_atomically
from rclrt_py.runs.run_data import EXCESSES, Run

if TYPE_CHECKING:
    from rclrt_model import Application


@dataclass(frozen=True)
class Expected:
    """The bounds to compare runs with, and the judge of the instances above them, by executor."""

    predictions: Predictions
    judges: dict[str, Judge]

    @classmethod
    def of(
        cls, application: Application, executors: Sequence[str], overheads: OverheadsFile | None
    ) -> Expected:
        predictions = predict(application, executors, overheads)
        judges = {name: Judge.of(application, name, overheads) for name in predictions.executors}
        return cls(predictions, judges)

    def judge(self, run: Run) -> None:
        """Writes the instances above their bound and the reasons into the directory of the run."""
        executor = run.results.executor
        predicted = self.predictions.executors.get(executor)
        if predicted is not None:
            found = self.judges[executor].judge(run, predicted.chains.values())
            write_atomically(run.directory / EXCESSES, excesses_csv(found))
