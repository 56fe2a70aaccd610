"""The problem, its matrices and how numbers are written. What the names mean is `learnalg.problem`'s business."""

from __future__ import annotations

from dataclasses import dataclass

from learnalg.config.checks import check_types, need

SHA256 = ":sha256="
MOST_ENSEMBLES = 100  # each is drawn apart


@dataclass(frozen=True)
class DataConfig:
    """The problem, the matrices and the encodings."""

    task: str = "eigenvalues"  # `learnalg list tasks`; several tasks at once: transpose+add, or TA
    dim: str = "5"  # 5, 6x4, 5-10 (square, one size a batch) or 5-10x5-10 (rectangular)
    ensemble: tuple[str, ...] = ("iid-uniform",)  # random matrices: `learnalg list ensembles`; several in equal parts
    amplitude: tuple[float, ...] = (10.0,)  # A of coefficients in [-A, A]; two numbers: a range
    sigma_factor: float = 1.0  # factor of the coefficients' standard deviation
    symmetric: bool = False  # draw symmetric matrices for a task that does not need them
    triangle: bool = False  # the model reads the upper triangle of a symmetric matrix only
    noise: float = 0.0  # Gaussian noise in the input, as a share of the coefficients' standard deviation
    rounded: bool = True  # no: solve the matrix that was drawn, and round it then; else what the model reads is solved
    input_encoding: str = "fp15"  # how the input is written: `learnalg list encodings`
    output_encoding: str = "p1000"  # how the output is written
    data: str = ""  # file of pairs to learn from, .jsonl or .parquet, in place of random matrices

    def __post_init__(self) -> None:
        check_types(self)
        need(0 <= self.noise < 10, f"noise {self.noise}: a fraction from 0 to 10")
        need(len(self.amplitude) in (1, 2), f"amplitude {self.amplitude}: one number, or two for a range")
        low, high = self.amplitude[0], self.amplitude[-1]
        need(0 < low <= high, f"amplitude {self.amplitude}: need 0 < lowest <= highest")
        need(self.sigma_factor > 0, f"sigma_factor {self.sigma_factor}: must be positive")
        need(bool(self.ensemble), "ensemble: name one or more, see `learnalg list ensembles`")
        need(
            len(self.ensemble) <= MOST_ENSEMBLES, f"{len(self.ensemble):,} ensembles at once: at most {MOST_ENSEMBLES}"
        )
        if self.data:
            drawn = {"ensemble": ("iid-uniform",), "sigma_factor": 1, "symmetric": False, "noise": 0, "rounded": True}
            for name, default in drawn.items():
                need(getattr(self, name) == default, f"{name}: has no effect on the pairs of a file")

    @property
    def file(self) -> tuple[str, str]:
        """The file of pairs, and its SHA-256, which a run adds: 'pairs.jsonl:sha256=0f3a...'."""
        path, _, sha256 = self.data.partition(SHA256)
        return path, sha256
