"""What can be said of an answer without knowing the right one: how wrong it is at most (`proofs`), and how to make it
right to the last digits (`refine`). NumPy only; nothing here knows a model."""
