"""Jobs on this machine, on a SLURM cluster or on a Ray cluster, behind one interface.

    >>> jobs = [Job("add", "learnalg.launch.training:train_or_resume", {"config": to_dict(config), "out": "runs/add"})]
    >>> queue = Queue(jobs, make_engine("local", Resources(jobs=2, threads=1)), Path("runs/jobs"))
    >>> queue.run()

A job is an importable function of this package and arguments that JSON can hold. It has a folder: what to run, its log,
its outcome. An engine starts `learnalg work FOLDER` somewhere, and says whether it still runs.
"""

from learnalg.launch.engine import ENGINES, Engine, Resources, make_engine
from learnalg.launch.job import Job, Outcome
from learnalg.launch.queue import Entry, Queue

__all__ = ["ENGINES", "Engine", "Entry", "Job", "Outcome", "Queue", "Resources", "make_engine"]
