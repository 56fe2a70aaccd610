"""Pictures of the page for README.md and docs/page.md: `make screenshots` takes them again.

Two small runs are trained to be shown, `learnalg serve` is started, and Chromium without a window looks at each part.
It takes about two minutes on one core, and needs playwright and Chromium (`make browser`).
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"
LEARNALG = (sys.executable, "-m", "learnalg")
TRAIN = "train --quiet --task eigenvalues --dim 2 --encoder-layers 2 --encoder-loops 1 --heads 4 --examples 12000"
TRAIN += " --eval-every 1500 --eval-num 500 --final-num 500 --threads 1"
RUNS = {"wide": "--dim-model 64", "narrow": "--dim-model 16"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 180_000  # milliseconds, of a busy machine
NUM_COLORS = 256  # of a picture: half of the bytes
MOST_BYTES = 150_000


def main() -> None:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit("no Chromium here: `make browser` installs it")
    with tempfile.TemporaryDirectory() as folder:
        for name, flags in RUNS.items():
            command = [*LEARNALG, *TRAIN.split(), *flags.split(), "--out", f"runs/{name}"]
            subprocess.run(command, cwd=folder, check=True)
        server = subprocess.Popen([*LEARNALG, "serve", "--port", "0"], cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().split()[0]
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
                take_all(browser, address)
                browser.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)


def take_all(browser: Any, address: str) -> None:
    IMAGES.mkdir(exist_ok=True)
    page = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="light")
    page.set_default_timeout(PATIENCE)
    page.goto(f"{address}/try?task=eigenvalues&size=3")
    page.wait_for_selector(".verdict")
    scroll_to(page, ".verdict")
    save(page, "page-try")
    page.goto(f"{address}/explore")
    page.fill("#num", "1000")
    page.select_option("#ensemble", "laplace")
    page.click("#sample")
    page.wait_for_selector(".charts svg")
    save(page, "page-explore")
    page.goto(f"{address}/runs?" + "&".join(f"run={name}" for name in RUNS))
    page.wait_for_selector("#curves svg")
    save(page, "page-runs")
    while page.goto(f"{address}/paper").status == 503:  # a busy machine takes more than a minute for the first time
        pass
    page.wait_for_load_state("networkidle")
    scroll_to(page, "#table-12")
    save(page, "page-paper")
    phone = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    phone.set_default_timeout(PATIENCE)
    phone.goto(f"{address}/try?task=inverse&size=3")
    phone.wait_for_selector(".verdict")
    scroll_to(phone, ".verdict")
    save(phone, "page-phone")


def scroll_to(page: Any, selector: str) -> None:
    """Below what stays at the top."""
    page.locator(selector).first.evaluate("found => found.scrollIntoView()")


def save(page: Any, name: str) -> None:
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = IMAGES / f"{name}.png"
    picture.quantize(NUM_COLORS, dither=Image.Dither.NONE).save(path, optimize=True)
    size = os.path.getsize(path)
    print(f"{path.relative_to(IMAGES.parents[1])}  {size / 1000:.0f} KB")
    if size > MOST_BYTES:
        sys.exit(f"{path} has more than {MOST_BYTES:,} bytes")


if __name__ == "__main__":
    main()
