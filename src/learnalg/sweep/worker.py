"""A worker of a sweep: takes a trial, trains it, tells the study, and takes the next, until there are enough.

A trial that nobody trains any more, because its worker was stopped or killed or its node is lost, comes first: it
resumes from its checkpoint. The lock of a trial tells, and it ends with its process.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from learnalg.evaluation.result import Report, Result
from learnalg.sweep.locks import FileLock
from learnalg.sweep.study import Plan, open_study, trial_folder, trial_lock
from learnalg.training.restart import to_its_end
from learnalg.training.watcher import Silent
from learnalg.zoo.index import RESULT_FILE

if TYPE_CHECKING:
    import optuna


class PrunedError(Exception):
    """A trial that is worse than the median of the others at the same point."""


def work(folder: str) -> int:
    """As a job (`learnalg.launch`): trains trials until all are begun. Returns how many."""
    place, done = Path(folder), 0
    while (claimed := claim(place)) is not None:
        trial, lock = claimed
        try:
            _train(place, Plan.read(place), trial)
        finally:
            lock.release()
        done += 1
    return done


def claim(folder: Path) -> tuple[optuna.Trial, FileLock] | None:
    """A trial that was left, or a new one, locked; None if there is none. One worker at a time."""
    from optuna.trial import Trial, TrialState

    plan = Plan.read(folder)
    with FileLock(folder / "claim.lock"):
        trials = open_study(folder, plan).get_trials(deepcopy=False)
        for left in (trial for trial in trials if trial.state == TrialState.RUNNING):
            lock = trial_lock(folder, left.number)
            if lock.acquire(wait=False):
                return Trial(open_study(folder, plan, left.number), left._trial_id), lock
        begun = sum(trial.state != TrialState.WAITING for trial in trials)
        if begun >= min(plan.trials, len(plan.grid) or plan.trials):
            return None
        trial = open_study(folder, plan, begun).ask()
        lock = trial_lock(folder, trial.number)
        lock.acquire()
        return trial, lock


class Telling(Silent):
    """Tells the study of each evaluation; ends a trial that the pruner has given up."""

    def __init__(self, plan: Plan, trial: optuna.Trial) -> None:
        self.plan, self.trial = plan, trial
        self.known = set(trial.study.trials[trial.number].intermediate_values)  # before it was resumed

    def on_evaluation(self, examples: int, report: Report) -> None:
        # Counted: batches of different sizes are evaluated at almost the same examples.
        step = max(round(examples / self.plan.config.train.eval_every), 1)
        if step not in self.known:
            self.trial.report(self.plan.measure(report), step)
        if self.trial.should_prune():
            raise PrunedError


def _train(folder: Path, plan: Plan, trial: optuna.Trial) -> None:
    from optuna.trial import TrialState

    study, out = trial.study, trial_folder(folder, trial.number)
    try:
        config = plan.config_with(plan.values(trial))
        print(f"trial {trial.number}: {trial.params}", flush=True)
        run = to_its_end(config, out, Telling(plan, trial))
        value = plan.measure(Result.read(run.folder / RESULT_FILE).report)
    except PrunedError:
        study.tell(trial, state=TrialState.PRUNED)
    except ValueError as error:
        # Settings that do not go together, or a loss that is not finite. The sampler learns from it as from the worst.
        trial.set_user_attr("note", " ".join(str(error).split()))
        study.tell(trial, state=TrialState.PRUNED)
    else:
        study.tell(trial, value)
