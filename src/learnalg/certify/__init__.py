"""What can be said about an answer without knowing the right one: a bound on its error (`proofs`), and iterations that
make it accurate to the last digits (`refine`). NumPy only; nothing here knows a model."""
