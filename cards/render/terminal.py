"""A card in a terminal, at eighty columns and up."""

import io
from collections.abc import Mapping

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cards.card import (
    Block,
    Card,
    Caveats,
    Code,
    Line,
    Link,
    Mention,
    Moment,
    Quote,
    Section,
    Span,
    Tone,
    Word,
)
from cards.render import plain as unmarked
from cards.render.limits import clamp, without_links
from cards.render.links import Allowed, nowhere

WIDTH = 88
BORDER: Mapping[Tone, str] = {
    Tone.FIRING: "bright_red",
    Tone.FIX_RAN: "dark_orange",
    Tone.RESOLVED: "bright_green",
    Tone.CLOSED: "bright_black",
    Tone.MERGED: "bright_black",
    Tone.NOTICE: "yellow",
    Tone.ANSWER: "blue",
}
SMALL = "grey62"
SPARKS = frozenset("▁▂▃▄▅▆▇█")


def render(card: Card, allowed: Allowed = nowhere) -> RenderableType:
    """Draw any card as a panel."""
    card = clamp(without_links(card, allowed))
    parts: list[RenderableType] = []
    above: Section | None = None
    for section in card.sections:
        rows = _section(section, allowed)
        gap = [] if unmarked.attached(section, above) or not parts else [Text("")]
        parts += [*gap, *rows] if rows else []
        above = section if rows else above
    if card.buttons:
        parts += [Text(""), _buttons(card)]
    title = Text(f" {unmarked.headed(card)} ", style="bold bright_white") if card.heading else None
    footer = Text(f" {unmarked.line(card.footer)} ", style="dim") if card.footer else None
    return Panel(
        Group(*parts),
        title=title,
        title_align="left",
        subtitle=footer,
        subtitle_align="right",
        border_style=BORDER[card.tone],
        padding=(0, 1),
    )


def text(card: Card, allowed: Allowed = nowhere, *, width: int = WIDTH, color: bool = False) -> str:
    """The card as it would be printed."""
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        color_system="truecolor" if color else None,
        legacy_windows=False,
        _environ={},
    )
    with console.capture() as captured:
        console.print(render(card, allowed))
    return "\n".join(row.rstrip() for row in captured.get().splitlines()) + "\n"


def _section(section: Section, allowed: Allowed) -> list[RenderableType]:
    rows: list[RenderableType] = []
    if section.title:
        rows.append(_line(section.title, allowed))
    for block in section.blocks:
        rows += _block(block, allowed, dim=section.muted)
    return rows


def _block(block: Block, allowed: Allowed, *, dim: bool) -> list[RenderableType]:
    lines = [_line(line, allowed) for line in block.lines]
    match block:
        case Caveats():
            return [
                _hanging(Text("⚠", style="bright_yellow"), _styled(line, "bright_yellow"))
                for line in lines
            ]
        case Quote(title=title):
            inner = Group(
                Text(title, style=f"bold {SMALL}"), *(_styled(line, SMALL) for line in lines)
            )
            return [Padding(inner, (0, 0, 0, 2))] if lines else []
        case _:
            return [_numbered(_styled(line, SMALL) if dim else line) for line in lines]


def _styled(line: Text, style: str) -> Text:
    made = line.copy()
    made.stylize_before(style)
    return made


def _numbered(line: Text) -> RenderableType:
    """A numbered line hangs under its number."""
    head, dot, _ = line.plain.partition(". ")
    if dot and head.isdigit() and len(head) <= 2:  # noqa: PLR2004 - a list, not a figure
        return _hanging(Text(f"{head}."), line[len(head) + 2 :])
    return line


def _hanging(mark: Text, line: Text) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row(mark, line)
    return grid


def _line(line: Line, allowed: Allowed) -> Text:
    made = Text(overflow="fold")
    for span in line:
        made.append_text(_span(span, allowed))
    return made


def _span(span: Span, allowed: Allowed) -> Text:
    """Never rich markup: every string is a literal."""
    match span:
        case Word(text=text, bold=bold):
            return Text(text, style="bold" if bold else "")
        case Code(text=text):
            return Text(text, style="cyan" if not SPARKS.isdisjoint(text) else "bright_cyan")
        case Moment(at=at, date=date):
            return Text(unmarked.clock(at, date=date), style="bold")
        case Link(label=label, url=url) if allowed(url):
            return Text(f"{label}: {url}", style="underline")
        case Link(label=label, url=url):
            return Text(unmarked.line((Word(text=f"{label}: {url}"),)))
        case Mention(name=name):
            return Text(f"@{name}", style="bold")


def _buttons(card: Card) -> Text:
    made = Text()
    for b in card.buttons:
        if not b.more:
            made.append(f"[ {b.label} ]", style="reverse" if b.style == "primary" else "bold")
            made.append("  ")
    if any(b.more for b in card.buttons):
        made.append("[ ⋯ ]", style="dim")
    return made
