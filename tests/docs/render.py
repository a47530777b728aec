"""Writes the pages that are rendered from the code: `make docs`."""

from pathlib import Path

from bot.cli.reference import as_page

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {"configuration.md": as_page}

if __name__ == "__main__":
    for name, rendered in PAGES.items():
        (DOCS / name).write_text(rendered(), encoding="utf-8")
