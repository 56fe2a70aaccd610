"""Runs commands of learnalg, each in a process of its own, and measures what they take.

Reads lines of JSON, [folder, [argument, ...]], and answers each with a line: exit code, what was said on standard
error, megabytes beyond those of the started interpreter, and seconds of the processor.
"""

import io
import json
import os
import resource
import sys
import time
from contextlib import redirect_stderr, redirect_stdout

import torch

# Imported here, so that what is measured is the work and not the libraries.
import learnalg.cli.analyse
import learnalg.cli.release
import learnalg.serve.runs
import learnalg.training.loop
import learnalg.training.replay
import learnalg.zoo.model  # noqa: F401
from learnalg.cli import main

MOST_BYTES = 12 * 2**30  # beyond this a child gets no more memory: the machine of the test is spared


def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def measured(folder, arguments):
    os.chdir(folder)
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MOST_BYTES, size + MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (300, 300))
    before, started, said = megabytes(), time.process_time(), io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        code = main(arguments)
    return [code, said.getvalue(), megabytes() - before, time.process_time() - started]


if __name__ == "__main__":
    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        child = os.fork()
        if not child:
            answers.write(json.dumps(measured(*json.loads(line))) + "\n")
            answers.flush()
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            answers.write(json.dumps([-1, "the command raised, or was ended", 0, 0]) + "\n")
            answers.flush()
