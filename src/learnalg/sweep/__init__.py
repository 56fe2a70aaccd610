"""A sweep: many short runs that look for the best settings, by the validation split, on as many machines as there are.

sweep.json      what is varied, what is compared, the config of all else
journal.log     what each trial was given and reached: Optuna's journal, which all workers write
trials/0007/    the run of a trial, a run like any other; 0007.lock is locked while a worker trains it
"""
