"""Weights that are shipped, each with its card: `learnalg solve NAME matrix.npy`, `learnalg evaluate NAME`.

    python -m learnalg.zoo RUN NAME

keeps a finished run: its weights and a card here, its result with the learning curve in results/NAME.json.
"""
