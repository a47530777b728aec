"""What a card says of paging, and that only configuration calls anybody."""

import pytest

from cards.draw import card
from engine.model.alert import Severity
from engine.model.org import Platform, Room
from engine.model.page import Mentioned, NoPage, PageRecord
from tests.cards.cases import CASES, NOW
from tests.cards.surfaces import DRAW

SLACK = Room(id="s", platform=Platform.SLACK, chat="#alerts")
TELEGRAM = Room(id="t", platform=Platform.TELEGRAM, chat="-100")
CALLED = PageRecord(
    route="shop on-call",
    mentions=(
        Mentioned(platform=Platform.SLACK, account="S0ONCALL"),
        Mentioned(platform=Platform.TELEGRAM, account="4242"),
    ),
    pagers=("pd", "hook"),
)


def shown(record: PageRecord | None, room: Room, name: str = "facts_early") -> str:
    drawn = card(CASES[name], NOW, room=room, paged=record)
    return str(DRAW[room.platform.value](drawn))


@pytest.mark.parametrize(
    ("room", "there", "elsewhere"),
    [(SLACK, "<!subteam^S0ONCALL>", "4242"), (TELEGRAM, "tg://user?id=4242", "S0ONCALL")],
)
def test_a_card_calls_those_who_are_in_its_chat(room: Room, there: str, elsewhere: str) -> None:
    said = shown(CALLED, room)
    assert there in said
    assert elsewhere not in said
    assert "by pd, hook" in said
    assert "page not delivered" not in said


def test_a_page_no_pager_took_is_a_warning_on_the_card() -> None:
    said = shown(CALLED.model_copy(update={"failed": ("pd",)}), SLACK)
    assert "page not delivered" in said
    assert "by hook" in said


@pytest.mark.parametrize(
    ("reason", "severity", "words"),
    [
        (NoPage.NO_ROUTE, Severity.CRITICAL, "nobody was paged: no route"),
        (NoPage.ONCALL_DISABLED, Severity.HIGH, "nobody was paged: paging is off"),
        (NoPage.NO_ROUTE, Severity.WARNING, ""),
        (NoPage.SEVERITY, Severity.CRITICAL, ""),
        (NoPage.DRILL, Severity.CRITICAL, ""),
    ],
)
def test_that_nobody_was_paged_is_said_where_it_matters(
    reason: NoPage, severity: Severity, words: str
) -> None:
    case = CASES["facts_early"]
    graver = case.incident.model_copy(update={"severity": severity})
    drawn = card(
        case.model_copy(update={"incident": graver}),
        NOW,
        room=SLACK,
        paged=PageRecord(reason=reason),
    )
    said = str(DRAW["slack"](drawn))
    assert ("nobody was paged" in said) == bool(words)
    assert words in said


def test_what_is_over_speaks_of_no_page() -> None:
    assert "shop on-call" not in shown(CALLED, SLACK, "resolved")
