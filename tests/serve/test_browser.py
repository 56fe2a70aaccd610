"""The page in a real browser: Debian's Chromium, without a window."""

import re
import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PARTS = ("try", "explore", "runs", "paper")
PATIENCE = 60_000  # milliseconds, of a busy machine


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium here: `make browser` installs it")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, address):
    """visit('/try', width=390): a page there, which must not complain and must not ask other servers."""
    contexts, wrong = [], []

    def asked(request):
        if not request.url.startswith(address):
            wrong.append(request.url)

    def open_page(path, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", asked)
        page.goto(address + path)
        return page

    open_page.wrong = wrong
    yield open_page
    for context in contexts:
        context.close()
    assert [text for text in wrong if "422" not in text] == []  # a form that is refused is no mistake


def test_a_problem_is_typed_solved_and_looked_into(visit):
    page = visit("/try?task=eigenvalues&size=3")
    page.wait_for_selector(".verdict")  # the page asks by itself
    assert len(page.query_selector_all("table.matrix")) == 4
    page.fill("#matrix-1", "1 2\nx y")
    page.focus("#matrix-1")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # on Solve
    page.wait_for_selector(".answer .trouble")
    assert "'x' is not a number" in page.inner_text(".answer .trouble")
    assert page.input_value("#matrix-1") == "1 2\nx y"
    page.fill("#matrix-1", "[[-5.08, 7.98, 8.98], [7.98, 4.83, 7.44], [8.98, 7.44, 4.06]]")
    page.click("#solve")
    page.wait_for_selector(".verdict.good")
    assert "18.09" in page.inner_text(".matrices")
    one = page.query_selector_all("#attention svg")
    page.select_option("#head", "every")
    page.locator("#attention svg").nth(1).wait_for()
    page.select_option("#place", "encoder-self-1-1")
    page.wait_for_selector("text=both are what the model reads")
    assert len(one) == 1 and page.input_value("#head") == "every"
    page.select_option("#task", "transpose")
    page.wait_for_selector("text=M^T")
    page.wait_for_selector(".verdict")


def test_the_worst_case_is_one_click_from_try(visit):
    page = visit("/explore")
    page.fill("#size", "3")
    page.fill("#num", "50")
    page.select_option("#ensemble", "gaussian")
    page.click("#sample")
    page.wait_for_selector(".charts svg")
    assert "50 3x3 matrices of gaussian" in page.inner_text(".answer")
    page.wait_for_selector(".heatmap rect")
    page.click("text=try it >> nth=0")
    page.wait_for_selector(".verdict")
    assert "trained on" in page.inner_text(".facts")


def test_runs_are_compared_and_go_on_by_themselves(visit, folder):
    page = visit("/runs?run=first")
    page.click("label:has-text('deep/second')")
    page.wait_for_selector("text=All settings in which they differ")
    page.wait_for_url("**/runs?*second*")
    assert "data.dim" in page.inner_text("#curves")
    metrics = folder / "first" / "metrics.jsonl"
    before = metrics.read_text()
    try:
        with metrics.open("a") as file:
            file.write('{"examples": 3000, "seconds": 30, "loss": 2.0, "examples_per_second": 100}\n')
        page.wait_for_selector("text=3,000 of 10,000 examples")
    finally:
        metrics.write_text(before)


def test_each_number_is_one_click_from_its_result(visit):
    page = visit("/paper")
    page.click("#table-6 ~ .scroll a.origin >> nth=0")
    page.wait_for_selector("text=How it was made")
    page.click("text=Back to the tables")
    page.wait_for_url(re.compile("/paper#"))
    figure = page.locator("figure img").first
    figure.scroll_into_view_if_needed()
    assert figure.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_part_fits_a_phone_in_light_and_dark(visit, scheme):
    for part in PARTS:
        page = visit(f"/{part}", width=390, color_scheme=scheme)
        if part == "try":
            page.wait_for_selector(".verdict")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, part
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (max(map(int, re.findall(r"\d+", ground))) < 64) == (scheme == "dark")
        assert page.inner_text("nav.parts [aria-current]").lower() == part
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"


def test_the_page_needs_no_javascript(visit):
    page = visit("/try?task=eigenvalues&size=3", java_script_enabled=False)
    assert page.query_selector(".verdict") is None
    page.click("#solve")
    page.wait_for_selector(".verdict")
    page.goto(page.url.replace("/try", "/runs"))
    page.check("#run-1")
    page.check("#run-2")
    page.click("text=Show the chosen")
    page.wait_for_selector("text=All settings in which they differ")


def test_a_server_that_is_gone_is_said(visit):
    page = visit("/try?task=eigenvalues&size=3")
    page.wait_for_selector(".verdict")
    page.context.set_offline(True)
    page.click("#solve")
    page.wait_for_selector("#lost:not([hidden])")
    assert "does not answer" in page.inner_text("#lost")
    visit.wrong.clear()
