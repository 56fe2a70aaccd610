"""Settings of the process, made by the commands and not by `import learnalg`, since they affect the whole process."""

from __future__ import annotations

import ctypes
import os
import sys


def prepare_process() -> None:
    """Before torch is loaded (decision 005). What the user has set stays."""
    # How long OpenMP's threads spin at a barrier before they sleep; libgomp reads it when torch is loaded.
    if "torch" not in sys.modules and "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    # A process that loses its companion says so in a line of ours; torch would add a stack of its own.
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    # glibc returns large blocks to the system as they are freed, and every step of training asks for the same ones
    # again, page by page. From here on the process keeps them.
    if sys.platform == "linux" and not {"GLIBC_TUNABLES", "MALLOC_MMAP_THRESHOLD_"} & os.environ.keys():
        libc = ctypes.CDLL(None)
        if hasattr(libc, "mallopt"):  # musl has none
            trim_threshold, mmap_threshold = -1, -3
            libc.mallopt(mmap_threshold, 2**30)
            libc.mallopt(trim_threshold, 2**31 - 1)
