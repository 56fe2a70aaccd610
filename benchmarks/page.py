"""Many clients of the page at once: are there errors, how long do they wait, does memory stay?

    python benchmarks/page.py --clients 50 --seconds 60

Starts `learnalg serve` on a free port of 127.0.0.1 with a folder of runs of its own, and stops it. Each client does one
thing after the other, in a random order of its own, without pause.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import httpx

from learnalg.config import replace_fields, to_dict
from learnalg.config.presets import preset
from learnalg.files import write_json

DRAW = {"action": "draw"}
REQUESTS = {  # what, how often, method, path, form
    "style": (2, "GET", "/style.css", {}),
    "htmx": (1, "GET", "/static/htmx.min.js", {}),
    "try, form": (2, "GET", "/try?task=eigenvalues", {}),
    "try, 3x3 eigenvalues": (4, "POST", "/try", DRAW | {"task": "eigenvalues", "size": "3"}),
    "try, 5x5 transposition": (2, "POST", "/try", DRAW | {"task": "transpose", "size": "5"}),
    "try, refused": (1, "POST", "/try", {"task": "eigenvalues", "matrix-1": "1 2\n3"}),
    "explore, 20 matrices": (1, "POST", "/explore", {"task": "eigenvalues", "size": "3", "num": "20"}),
    "runs": (2, "GET", "/runs", {}),
    "runs, curves": (6, "GET", "/runs/curves?run=first&run=second", {}),
    "paper": (1, "GET", "/paper", {}),
}
EXPECTED = {"try, refused": 422}


def write_runs(folder: Path) -> None:
    for seed, name in enumerate(("first", "second")):
        (folder / name).mkdir(parents=True)
        write_json(folder / name / "config.json", to_dict(replace_fields(preset("fast"), dim="5", seed=seed)))
        lines = (
            f'{{"examples": {32 * k}, "seconds": {k}, "loss": {4 / (1 + k / 500)}, "examples_per_second": 100}}\n'
            for k in range(1, 5_000)
        )
        (folder / name / "metrics.jsonl").write_text("".join(lines))


def megabytes(pid: int) -> float:
    (kilobytes,) = re.findall(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(kilobytes) / 1024


async def client(number: int, address: str, until: float, times: dict[str, list[float]], errors: Counter[str]) -> None:
    rng = random.Random(number)
    names, weights = list(REQUESTS), [often for often, *_ in REQUESTS.values()]
    async with httpx.AsyncClient(base_url=address, timeout=120, trust_env=False) as http:
        while time.monotonic() < until:
            (name,) = rng.choices(names, weights)
            _, method, path, form = REQUESTS[name]
            data = form | {"seed": str(rng.randrange(10**6))} if form else None
            started = time.monotonic()
            try:
                answer = await http.request(method, path, data=data)
            except httpx.HTTPError as error:
                errors[f"{name}: {type(error).__name__}"] += 1
                continue
            times[name].append(time.monotonic() - started)
            if answer.status_code != EXPECTED.get(name, 200):
                errors[f"{name}: {answer.status_code} {answer.text[-200:]!r}"] += 1


async def measure(address: str, pid: int, clients: int, seconds: float) -> None:
    times: dict[str, list[float]] = defaultdict(list)
    errors: Counter[str] = Counter()
    async with httpx.AsyncClient(base_url=address, timeout=120, trust_env=False) as http:
        for _, method, path, form in REQUESTS.values():  # torch and the report are loaded
            await http.request(method, path, data=form or None)
    memory = [megabytes(pid)]
    until = time.monotonic() + seconds
    working = [asyncio.create_task(client(k, address, until, times, errors)) for k in range(clients)]
    while time.monotonic() < until:
        await asyncio.sleep(seconds / 6)
        memory.append(megabytes(pid))
    await asyncio.gather(*working)
    memory.append(megabytes(pid))
    print(f"{clients} clients, {seconds:g} s, {sum(map(len, times.values())):,} answers, {sum(errors.values())} errors")
    for error, count in errors.most_common(5):
        print(f"  {count} {error}")
    print("memory in MB, before, six times on the way, after:", " ".join(f"{m:.0f}" for m in memory))
    print("| request | answers | median, s | slowest of 20, s | slowest, s |\n| --- | --- | --- | --- | --- |")
    for name in REQUESTS:
        found = sorted(times[name])
        if found:
            late = found[int(0.95 * (len(found) - 1))]
            print(f"| {name} | {len(found)} | {statistics.median(found):.2f} | {late:.2f} | {found[-1]:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_runs(Path(folder))
        command = [sys.executable, "-m", "learnalg", "serve", "--port", "0", "--runs", folder]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().split()[0]
            print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
            asyncio.run(measure(address, server.pid, arguments.clients, arguments.seconds))
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(20)


if __name__ == "__main__":
    main()
