"""Writes the golden cards again: `python -m tests.cards.regenerate`; a person reads the diff."""

from collections.abc import Iterator
from pathlib import Path

from cards import inquiry, talk
from cards.card import Card, Mention
from cards.digest import row_of, storm
from cards.draw import ALL, card
from cards.notice import Notice, notice
from cards.thread import evidence, finding_reply, worse
from engine.model.org import Client, Flags, RoomSound
from tests.cards.cases import CASES, INQUIRIES, NOW
from tests.cards.surfaces import DRAW, SUFFIX

GOLDEN = Path(__file__).parent / "golden"
TOOK = Mention(account="U0ALICE", name="alice")


def cards() -> Iterator[tuple[str, Card]]:
    """Every card the product can draw, by name."""
    for name, case in CASES.items():
        yield name, card(case, NOW, revision=4)
    for name in ("verified", "unconfirmed", "degraded", "refuted"):
        yield f"thread_{name}", evidence(CASES[name], NOW)
    reply = finding_reply(CASES["unconfirmed"], TOOK)
    if reply is not None:
        yield "reply", reply
    yield "worse", worse(CASES["said"], TOOK)
    yield from answers()
    rows = [row_of(CASES[name].incident) for name in ("facts", "predictive", "chronic_quiet")]
    yield "storm", storm(rows, NOW, sound=RoomSound.CRITICAL, offered=ALL)
    for kind in Notice:
        yield f"notice_{kind.value}", notice(kind, NOW, detail="OperationalError")


def answers() -> Iterator[tuple[str, Card]]:
    """What questions and commands are answered with."""
    for name, answered in INQUIRIES.items():
        yield f"inquiry_{name}", inquiry.card(answered, NOW)
    client = Client(id="acme", flags=Flags(ai_triage=True))
    yield "help", talk.helped(["acme", "globex"])
    yield "help_nothing", talk.helped([])
    flagged = talk.Flagged(client=client, locked=("ai_triage",), legacy=True)
    yield "settings", talk.settings([flagged])
    standing = talk.Standing(
        client=client,
        present=("prometheus", "alertmanager"),
        absent=("loki",),
        open_incidents=3,
        usd_today=1.2,
        usd_per_day=5,
    )
    yield "status", talk.status([standing], model=True)
    yield "status_nothing", talk.status([], model=False)


def files() -> Iterator[tuple[Path, str]]:
    """Every golden file and what stands in it."""
    made = dict(cards())
    for name, drawn in made.items():
        for surface, draw in DRAW.items():
            yield GOLDEN / f"{name}.{SUFFIX[surface]}", draw(drawn)
    lines = [f"{name}: {drawn.lock_screen}" for name, drawn in made.items()]
    yield GOLDEN / "lock_screen.txt", "\n".join(lines) + "\n"


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for path, text in files():
        path.write_text(text)
