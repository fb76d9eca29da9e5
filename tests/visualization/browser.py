"""Pages in a headless browser without a network."""

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


def drawn_page(page: str, probe: str, folder: Path) -> tuple[str, str]:
    """Load a page, run `probe`, the body of a JavaScript function, and return its result and the page's content.

    If the page has an error, that is the result.
    """
    # The page reports its own errors.
    script = (
        "<script>addEventListener('error', e => document.title = 'error ' + e.message);"
        f"addEventListener('load', () => document.title = (() => {{ {probe} }})());</script>"
    )
    path = folder / "page.html"
    path.write_text(page.replace("<style>", script + "<style>", 1), encoding="utf-8")
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
    command = [str(CHROMIUM), *flags, f"--user-data-dir={folder / 'profile'}", "--dump-dom", path.as_uri()]
    drawn = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    title = re.search(r"<title>(.*?)</title>", drawn, re.DOTALL)
    assert title is not None
    return unescape(title[1]), drawn
