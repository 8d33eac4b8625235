"""The page in a browser, for a real stream and for a plan of a thousand queries."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from serve_browser import (
    ARTEFACTS,
    CHROMIUM,
    FLAGS,
    JOB,
    dashboard,
    stream,
    write_minutes,
)
from serve_cases import write_checkpoint, write_plan

from weft.spark.streaming.changes import stored

pytestmark = pytest.mark.integration

TEN = "SELECT symbol, count(*) AS n\nFROM trades\nGROUP BY window(ts, '10 minutes'), symbol"
PATIENT = 150_000
"""Milliseconds that a change of a stream may take on a busy machine."""
expect.set_options(timeout=30_000)  # what takes a moment on a quiet one


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of laptop size; any error, or violation of its security policy, fails the test."""
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda told: wrong.append(told.text) if "Security" in told.text else None)
    yield page
    context.close()
    assert wrong == []


def picture(page: Page, name: str) -> None:
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png")


def names(here: Path) -> list[str]:
    return [query.name for query in stored(str(here / "ck")).queries]


def test_a_stream_is_seen_and_changed_on_the_page(page, tmp_path):
    (tmp_path / "job.yaml").write_text(JOB)
    write_minutes(tmp_path / "in", 0, 30)
    with stream(tmp_path), dashboard("job.yaml", cwd=tmp_path) as address:
        page.goto(address)
        assert "token" not in page.url  # read, and removed from the address
        expect(page.locator("#state")).to_have_text("running", timeout=20_000)
        expect(page.get_by_role("treeitem", name=re.compile("^hourly, 1 hour"))).to_be_visible()
        expect(page.get_by_role("treeitem", name=re.compile("^all, 10 minutes"))).to_be_visible()
        page.get_by_role("treeitem", name=re.compile("^hourly")).click()
        expect(page.locator(".weave-panel .sql")).to_contain_text("max(price)")
        picture(page, "1-weave")

        page.click("#tab-queries")
        page.fill("#new-name", "ten")
        page.fill("#new-sql", TEN.replace("10 minutes", "10 minuts"))
        expect(page.locator("#feedback")).to_contain_text("Line 3, column 21")
        expect(page.locator(".editor mark")).to_have_text("'10 minuts'")
        expect(page.locator("#add-query")).to_be_disabled()
        picture(page, "2-error-at-its-place")
        page.fill("#new-sql", TEN.replace("symbol", "simbol"))  # only Spark knows the columns
        expect(page.locator("#feedback.bad")).to_contain_text("simbol", timeout=PATIENT)
        expect(page.locator("#add-query")).to_be_disabled()
        assert names(tmp_path) == ["hourly", "all"]

        page.fill("#new-sql", TEN)
        expect(page.locator("#feedback.good")).to_contain_text("Joins tree")
        expect(page.locator("#feedback.good")).to_contain_text("hourly")
        expect(page.locator("#feedback.good")).to_contain_text("restart")
        picture(page, "3-preview")
        page.click("#add-query")
        listed = page.locator("#query-list")
        expect(listed.get_by_role("button", name="ten: show in the weave")).to_be_visible(
            timeout=PATIENT
        )
        assert names(tmp_path) == ["hourly", "all", "ten"]
        page.click("#tab-weave")
        expect(page.get_by_role("treeitem", name=re.compile("^ten, 10 minutes"))).to_be_visible()

        write_minutes(tmp_path / "in", 30, 100)
        write_minutes(tmp_path / "in", 100, 101)
        page.click("#tab-live")
        page.select_option("#answers-query", "ten")
        expect(page.locator("#answers-note")).to_contain_text(" answers in ", timeout=PATIENT)
        expect(page.locator(".answers-table td").first).to_be_visible()
        assert page.locator(".tile .big").first.inner_text() != "–"
        happened = page.locator(".card", has_text="What happened")
        expect(happened).to_contain_text("The stream started")
        expect(happened).to_contain_text("Added ten")
        picture(page, "4-answers")

        page.click("#tab-queries")
        listed.get_by_role("button", name="Pause hourly").click()
        expect(listed.get_by_role("button", name="Resume hourly")).to_be_visible(timeout=PATIENT)
        assert stored(str(tmp_path / "ck")).entry("hourly").paused is not None
        listed.get_by_role("button", name="Drop all").click()
        expect(page.locator("dialog")).to_contain_text("Drop all?")
        picture(page, "5-drop")
        page.click("#confirm-yes")
        expect(listed.get_by_role("button", name="all: show in the weave")).to_have_count(
            0, timeout=PATIENT
        )
        assert names(tmp_path) == ["hourly", "ten"]
        page.click("#tab-cost")
        expect(page.locator(".view:not([hidden])")).to_contain_text("Dropped")
        picture(page, "6-cost")


def test_changes_ask_for_the_token_and_say_when_it_is_wrong(page, tmp_path):
    write_checkpoint(tmp_path)
    with dashboard("ck", cwd=tmp_path) as address:
        bare, token = address.split("#token=")
        page.goto(f"{bare}#queries")
        expect(page.locator("#state")).to_have_text("stopped")
        pause = page.get_by_role("button", name="Pause hourly")
        pause.click()
        page.fill("#token-input", "not the token at all")
        page.keyboard.press("Enter")
        expect(page.locator("dialog")).to_contain_text("That token is wrong")
        page.fill("#token-input", token)
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Resume hourly")).to_be_visible(timeout=20_000)
    assert stored(str(tmp_path / "ck")).entry("hourly").paused == 5


def test_by_keyboard_alone(page, tmp_path):
    write_checkpoint(tmp_path)
    with dashboard("ck", "--read-only", cwd=tmp_path) as address:
        page.goto(address)
        expect(page.locator("#weave")).to_be_visible()
        page.locator("#weave").focus()
        for key in ("ArrowDown", "ArrowDown", "+", "ArrowRight"):
            page.keyboard.press(key)
        chosen = page.locator(".thread-row[aria-selected=true]")
        expect(chosen).to_have_count(1)
        active = page.locator("#weave").get_attribute("aria-activedescendant")
        assert chosen.get_attribute("id") == active
        page.keyboard.press("/")
        expect(page.locator("#weave-search")).to_be_focused()
        page.keyboard.type("busy")
        expect(page.locator(".thread-row")).to_have_count(1)
        page.locator("body").press("Escape")
        page.locator("#weave").focus()
        page.keyboard.press("4")
        expect(page.locator("#new-sql")).to_be_visible()
        expect(page.locator("#add-query")).to_be_disabled()
        assert page.get_by_role("button", name="Drop hourly").count() == 0  # read-only


TOO_WIDE = """() => {
  const boxes = [document.documentElement, document.getElementById("main")];
  return Math.max(...boxes.map((box) => box.scrollWidth - box.clientWidth));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_fits_a_laptop_and_a_phone(browser, tmp_path, size, scheme):
    write_plan(tmp_path / "plan.json", "factor")
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
    )
    page = context.new_page()
    with dashboard("plan.json", cwd=tmp_path) as address:
        page.goto(address)
        page.get_by_role("button", name="Graph").first.click()
        expect(page.locator(".graph svg")).to_be_visible()
        for tab in ("weave", "cost", "live", "queries"):
            page.click(f"#tab-{tab}")
            page.wait_for_timeout(150)
            picture(page, f"{size[0]}-{scheme}-{tab}")
            wide = page.evaluate(TOO_WIDE)
            assert wide <= 0, f"{tab} is {wide} pixels too wide"
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (max(map(int, re.findall(r"\d+", ground))) < 60) == (scheme == "dark")
    context.close()


SCROLL = """async () => {
  const box = document.getElementById("weave");
  const took = [];
  let last = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < 150; frame++) {
    box.scrollTop += 60;
    const now = await new Promise(requestAnimationFrame);
    took.push(now - last);
    last = now;
  }
  took.sort((a, b) => a - b);
  return { median: took[75], p95: took[142], scrolled: box.scrollTop };
}"""


def when_painted(page) -> float:
    """Milliseconds to the page's mark; polled, because its policy forbids Playwright's waiting."""
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        painted = page.evaluate("performance.getEntriesByName('weft:painted')[0]?.startTime")
        if painted is not None:
            return painted
        time.sleep(0.05)
    raise AssertionError("nothing was painted within 30 s")


def test_a_thousand_queries_paint_soon_and_scroll_smoothly(browser, tmp_path):
    write_plan(tmp_path / "plan.json", count=1000)
    figures = []
    with dashboard("plan.json", cwd=tmp_path) as address:
        for _ in range(3):
            context = browser.new_context(viewport={"width": 1366, "height": 768})
            page = context.new_page()
            page.goto(address)
            painted = when_painted(page)
            page.wait_for_timeout(300)
            figures.append({"painted_ms": painted, **page.evaluate(SCROLL)})
            assert page.locator(".thread-row").count() < 100  # only those in view exist
            expect(page.locator(".tools")).to_contain_text("1,000 queries")
            picture(page, "thousand")
            context.close()
    (ARTEFACTS / "thousand.json").write_text(json.dumps(figures, indent=2))
    print(json.dumps(figures))
    # The best of three: others may be using the machine.
    assert min(one["painted_ms"] for one in figures) < 2000
    assert min(one["median"] for one in figures) < 34
    assert min(one["p95"] for one in figures) < 100
    assert all(one["scrolled"] > 5000 for one in figures)
