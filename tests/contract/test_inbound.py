"""One suite over both chats: what is pressed there is decided once and shown everywhere."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from copy import copy
from datetime import timedelta

import pytest
from typing_extensions import override

from bot.drill.doubles import slack as slack_double
from bot.drill.doubles import telegram as telegram_double
from bot.drill.doubles.faults import ReplyLost
from engine.model.incident import Incident
from engine.model.org import Role
from storage.store import SqlStore
from tests.bot.chats import slack_room, telegram_room
from tests.bot.sending import Stage, until
from tests.cards.cases import NOW

YOURS = "It is yours; the card says so."


class Side(ABC):
    """One chat with a card in it, and two people."""

    stage: Stage
    guest: str
    edit: str
    """The method that edits a card."""

    @abstractmethod
    async def press(self, who: str, label: str, *, old: bool = False) -> str:
        """Press, maybe what was drawn first; gives what the presser alone is told."""

    @abstractmethod
    def card(self) -> str:
        """Everything the card says."""

    @abstractmethod
    def limit(self, seconds: int) -> None:
        """Have the next edit told to wait."""

    @abstractmethod
    def lose(self) -> None:
        """Lose the answer to the next edit."""


class InSlack(Side):
    guest = "UGUEST"
    names = {"alice": "UALICE", "bob": "UBOB"}

    def __init__(self, place: slack_room.Place, ts: str) -> None:
        self.place, self.ts, self.stage = place, ts, place.stage
        self.first = copy(place.shown(ts))
        place.slack.person(self.guest, "guest", is_restricted=True)

    @override
    async def press(self, who: str, label: str, *, old: bool = False) -> str:
        user = self.names.get(who, who)
        heard = len(self.place.slack.whispers(user))
        await self.place.press(self.ts, label, user, self.first if old else None)
        if label.endswith("…"):
            await until(lambda: self._said(user))
            return str(self.place.modal(user).shown)
        return await self.place.told(user, heard + 1)

    def _said(self, user: str) -> bool:
        modal = self.place.modal(user)
        return modal is not None and "ask " in str(modal.shown)

    @override
    def card(self) -> str:
        shown = self.place.shown(self.ts)
        return f"{shown.text} {shown.blocks}".replace("*", "")

    @override
    def limit(self, seconds: int) -> None:
        self.place.slack.fail_next("chat.update", slack_double.rate_limited(seconds))

    @override
    def lose(self) -> None:
        self.place.slack.fail_next("chat.update", ReplyLost())


class InTelegram(Side):
    guest = str(telegram_room.EVE)
    names = {"alice": telegram_room.ADA, "bob": telegram_room.BOB}

    def __init__(self, floor: telegram_room.Floor) -> None:
        self.floor, self.stage = floor, floor.stage
        self.first = copy(floor.card)

    @override
    async def press(self, who: str, label: str, *, old: bool = False) -> str:
        user = self.names[who] if who in self.names else int(who)
        return await self.floor.press(user, label, self.first if old else None)

    @override
    def card(self) -> str:
        return self.floor.card.text

    @override
    def limit(self, seconds: int) -> None:
        self.floor.telegram.fail_next("editMessageText", telegram_double.rate_limited(seconds))

    @override
    def lose(self) -> None:
        self.floor.telegram.fail_next("editMessageText", ReplyLost())


@asynccontextmanager
async def in_slack(store: SqlStore) -> AsyncIterator[tuple[Side, Incident]]:
    async with slack_room.place(store) as place:
        incident, ts = await place.card(with_finding=True)
        yield InSlack(place, ts), incident


@asynccontextmanager
async def in_telegram(store: SqlStore) -> AsyncIterator[tuple[Side, Incident]]:
    async with telegram_room.floor(store) as floor:
        incident = await floor.shown(number=1)
        yield InTelegram(floor), incident


Open = Callable[[SqlStore], AbstractAsyncContextManager[tuple[Side, Incident]]]
both = pytest.mark.parametrize("open_", [in_slack, in_telegram])


@both
async def test_a_press_is_decided_told_and_drawn(store: SqlStore, open_: Open) -> None:
    async with open_(store) as (side, incident):
        assert await side.press("alice", "Take") == YOURS
        await side.stage.settled()
        assert "taken by" in side.card()
        async with store.begin() as tx:
            case = await tx.case(incident.id)
        assert case is not None
        assert case.taken_by in {"alice", "Ada"}


@both
async def test_what_was_drawn_before_is_answered_with_who_was_first(
    store: SqlStore, open_: Open
) -> None:
    async with open_(store) as (side, _):
        await side.press("alice", "Take")
        await side.stage.settled()
        assert (await side.press("bob", "Take", old=True)).startswith("Already taken by ")


@both
async def test_a_guest_reads_and_changes_nothing(store: SqlStore, open_: Open) -> None:
    async with open_(store) as (side, _):
        assert (await side.press(side.guest, "Right cause")).startswith("Only full members")
        async with store.begin() as tx:
            assert await tx.outcomes.models() == []


@both
async def test_a_verdict_counts_for_the_finding_that_was_shown(
    store: SqlStore, open_: Open
) -> None:
    async with open_(store) as (side, incident):
        await side.stage.finding(incident, 2, created_at=NOW + timedelta(minutes=9))
        await side.stage.settled()
        told = await side.press("alice", "Right cause", old=True)
        assert told == "The finding changed since this card was drawn; look again."
        assert await side.press("alice", "Right cause") == "Noted: right cause."
        await side.stage.settled()
        assert "right cause, says" in side.card()


@both
async def test_a_decision_taken_elsewhere_is_drawn_here_too(store: SqlStore, open_: Open) -> None:
    async with open_(store) as (side, incident):
        async with store.begin() as tx:
            await tx.incidents.take(incident.id, "carol", "slack:UCAROL")
            key = incident.group_of(incident.lead).family_key
            until = await tx.now() + timedelta(hours=1)
            await tx.mutes.keep(incident.client_id, key, until, "carol")
            await tx.cards.wish(incident, "taken")
        await side.stage.settled()
        assert "taken by carol" in side.card()
        assert "muted until" in side.card()


@both
async def test_a_limit_or_a_lost_reply_holds_up_the_drawing_and_not_the_decision(
    store: SqlStore, open_: Open
) -> None:
    async with open_(store) as (side, _):
        side.limit(1)
        assert await side.press("alice", "Take") == YOURS
        await side.stage.settled()
        assert "taken by" in side.card()
        side.lose()
        assert await side.press("alice", "Right cause") == "Noted: right cause."
        await side.stage.settled()
        assert "right cause, says" in side.card()


@both
async def test_a_role_is_looked_at_when_it_is_pressed(store: SqlStore, open_: Open) -> None:
    async with open_(store) as (side, incident):
        async with store.begin() as tx:
            lena = await tx.people.add("lena", by="test")
            await tx.people.grant(lena, "*", Role.RESOLUTIONS_APPROVE, by="test")
        await side.stage.change("update incidents set state = 'resolved', resolved_at = now()")
        await side.stage.wish(incident)
        await side.stage.settled()
        assert "ask lena" in await side.press("alice", "Save to memory…")
