"""The four encodings: 3.14 and -6.02e23 as tokens, tokens for each number and sizes of the vocabularies, from our
encodings. The paper's sizes are rounded, ours are counted: its appendix A has 213, 1104 and 2004 tokens. FP15 has 16
exponents, so -6.02e23 is too large for it, and is written as FP-NaN.
"""

from learnalg.reproduction.experiment import Experiment

EXPERIMENT = Experiment("table-1", "The four encodings of a number", computed="encodings")
