"""Draws cards into docs/pictures: `python -m tests.reports.pictures [NODE_DIR]`.

Needs chromium and node; NODE_DIR is a folder in which `npm i --no-package-lock` of PACKAGES was
run, otherwise a temporary one is made. Slack's look is an imitation by slack-blocks-to-jsx,
Telegram's by a page of our own.
"""

import asyncio
import html
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

from bot.backends.chart import ChartDrawer
from cards.card import Card
from cards.chart import picture
from cards.render import slack, telegram, terminal
from cards.render.links import listed
from cards.thread import evidence
from tests.cards.cases import CASES, HOST, NOW
from tests.cards.regenerate import cards as every_card
from tests.charts import CHARTS

OUT = Path(__file__).resolve().parents[2] / "docs" / "pictures"
PACKAGES = ("slack-blocks-to-jsx@1.1.1", "react", "react-dom", "esbuild@0.28.2")
ALLOWED = listed(HOST)
PAGES: Mapping[str, Sequence[str]] = {
    "facts": ("facts_early", "facts"),
    "findings": ("verified", "unconfirmed", "degraded"),
    "no_cause": ("abstained", "refuted"),
    "working": ("investigating", "operator_action"),
    "quiet": ("predictive", "chronic_quiet", "not_investigated"),
    "ended": ("resolved", "closed", "merged", "heartbeat"),
    "first_contact": ("first_contact",),
    "people": ("said", "said_wrong"),
    "questions": ("inquiry_choosing", "inquiry_waiting", "inquiry_verified", "inquiry_degraded"),
    "commands": ("help", "status", "settings"),
}
CHROMIUM = (
    "chromium",
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--allow-file-access-from-files",
    "--virtual-time-budget=4000",
)
APP = """
import React from "react"; import { createRoot } from "react-dom/client";
import { Message } from "slack-blocks-to-jsx"; import "slack-blocks-to-jsx/dist/style.css";
const cards = window.__CARDS__;
const style = {padding: 20, background: "#fff", width: 700,
  fontFamily: "Lato, 'DejaVu Sans', sans-serif"};
createRoot(document.getElementById("root")).render(<div style={style}>{cards.map((c, i) =>
  <div key={i} style={{marginBottom: 26}}><Message blocks={c} name="Caveat" logo={window.__LOGO__}
  time={new Date("2026-11-30T03:02:00Z")}
  data={{users: [], user_groups: [], channels: []}} /></div>)}</div>);
"""
LOGO = (
    "data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='36' height='36'>"
    "<rect width='36' height='36' rx='6' fill='%23245'/>"
    "<text x='10' y='26' font-size='22' fill='white'>C</text></svg>"
)
TELEGRAM_STYLE = """
body{margin:0;background:#c9dbc3;font:13px/1.4 'DejaVu Sans','Noto Color Emoji',sans-serif;
padding:16px;width:430px}
.m{background:#fff;border-radius:12px;padding:9px 12px;white-space:pre-wrap;
overflow-wrap:anywhere;margin-top:12px}
.n{color:#3a8;font-weight:bold;font-size:14px}
code{color:#a3365f;font-family:'DejaVu Sans Mono',monospace;font-size:13px}
tg-time{color:#2678b6}i{color:#777}a{color:#2678b6}
blockquote{margin:4px 0;border-left:3px solid #3a8;background:#eef6f0;padding:4px 8px}
.k{display:flex;gap:4px;margin-top:4px}
.k span{flex:1;background:#7c9b74;color:#fff;border-radius:8px;text-align:center;
padding:7px 2px;font-size:14px}.k .p{background:#2c8a4b}
"""


def shoot(page: Path, picture: Path, width: int, height: int) -> None:
    """Photograph a page and cut the empty rest off."""
    with tempfile.TemporaryDirectory() as profile:
        command = [*CHROMIUM, f"--user-data-dir={profile}", f"--window-size={width},{height}"]
        subprocess.run(
            [*command, f"--screenshot={picture}", page.as_uri()],
            check=True,
            capture_output=True,
            timeout=120,
        )
    trim(picture)


def trim(picture: Path) -> None:
    """Cut the one-coloured rest off the bottom, and store few colours."""
    from PIL import Image, ImageChops  # noqa: PLC0415 - only this needs it

    image = Image.open(picture).convert("RGB")
    corner = image.getpixel((image.width - 1, image.height - 1))
    box = ImageChops.difference(image, Image.new("RGB", image.size, corner)).getbbox()
    cropped = image.crop((0, 0, image.width, min(image.height, (box[3] if box else 1) + 16)))
    cropped.quantize(160).save(picture, optimize=True)


def node(folder: Path) -> Path:
    """A folder with the packages in it."""
    if not (folder / "node_modules").is_dir():
        command = ["npm", "i", "--no-package-lock", "--no-audit", "--no-fund", *PACKAGES]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
    (folder / "app.jsx").write_text(APP)
    bundle = ["npx", "esbuild", "app.jsx", "--bundle", "--outfile=app.js", "--loader:.js=jsx"]
    define = '--define:process.env.NODE_ENV="production"'
    subprocess.run(
        [*bundle, "--jsx=automatic", define, "--log-level=error"],
        cwd=folder,
        check=True,
        timeout=120,
    )
    return folder


def slack_page(folder: Path, cards: Sequence[Card]) -> Path:
    blocks = [_drawable(slack.render(c, ALLOWED).blocks) for c in cards]
    given = f"window.__CARDS__={json.dumps(blocks)};window.__LOGO__={json.dumps(LOGO)}"
    page = folder / "page.html"
    page.write_text(
        "<!doctype html><html data-theme=light><meta charset=utf-8>"
        "<link rel=stylesheet href=app.css>"
        "<body style='margin:0'><div id=root></div><script>"
        + given.replace("</", "<\\/")
        + "</script><script src=app.js></script></body></html>"
    )
    return page


def _drawable(node: object) -> object:
    """The drawing library shows verbatim text without its marks; Slack itself does not."""
    if isinstance(node, dict):
        return {key: _drawable(value) for key, value in node.items() if key != "verbatim"}
    return [_drawable(value) for value in node] if isinstance(node, list | tuple) else node


def telegram_page(folder: Path, cards: Sequence[Card]) -> Path:
    said = "".join(_bubble(telegram.render(c, ALLOWED)) for c in cards)
    page = folder / "telegram.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><style>{TELEGRAM_STYLE}</style>{said}")
    return page


def _bubble(message: telegram.TelegramMessage) -> str:
    rows = "".join(
        "<div class=k>" + "".join(_key(key) for key in row) + "</div>" for row in message.keyboard
    )
    return f"<div class=m><span class=n>Caveat</span>\n{message.text}</div>{rows}"


def _key(key: telegram.KeyButton) -> str:
    return f"<span class={'p' if key.primary else 'q'}>{html.escape(key.label)}</span>"


def terminal_page(folder: Path, cards: Sequence[Card]) -> Path:
    console = Console(file=io.StringIO(), record=True, width=92, force_terminal=True)
    for made in cards:
        console.print(terminal.render(made, ALLOWED))
    page = folder / "terminal.html"
    fonts = "'DejaVu Sans Mono','Noto Color Emoji',monospace !important"
    style = f"<style>pre{{font-family:{fonts};font-size:13px}}</style>"
    page.write_text(
        _dark(console.export_html(inline_styles=True, theme=DIMMED_MONOKAI)).replace(
            "</head>", style + "</head>"
        )
    )
    return page


def _dark(page: str) -> str:
    return page.replace("<body>", "<body style='background:#111;color:#ddd;margin:12px'>")


async def draw_charts() -> None:
    """Draw the charts as they stand below cards."""
    with tempfile.TemporaryDirectory() as folder:
        drawer = ChartDrawer(Path(folder))
        for name, made in CHARTS.items():
            (OUT / f"chart_{name}.png").write_bytes(await drawer.draw(picture(made)))


def main(given: str | None) -> None:
    """Write every picture."""
    OUT.mkdir(parents=True, exist_ok=True)
    asyncio.run(draw_charts())
    with tempfile.TemporaryDirectory() as temporary:
        folder = node(Path(given or temporary))
        every = dict(every_card())
        for name, states in PAGES.items():
            cards = [every[state] for state in states]
            if name == "findings":
                shoot(
                    slack_page(folder, [evidence(CASES["unconfirmed"], NOW)]),
                    OUT / "slack_evidence.png",
                    740,
                    1200,
                )
            shoot(slack_page(folder, cards), OUT / f"slack_{name}.png", 740, 2600)
            shoot(telegram_page(folder, cards), OUT / f"telegram_{name}.png", 462, 3200)
            shoot(terminal_page(folder, cards), OUT / f"terminal_{name}.png", 780, 2400)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
