"""Released models: weights with a card, each trained by the recipe of its name or of its origin.

learnalg list models
learnalg solve eigenvalues-3 matrix.npy
learnalg release RUN NAME                    turns a finished run into a released model
"""
