"""A Slack room with a card in it, people who press, and everything between them and the desk."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI

from bot.backends.clock import SystemClock
from bot.chats.commands.command import Install
from bot.chats.commands.commands import Commands
from bot.chats.inbox import Inbox
from bot.chats.slack.front import SlackFront
from bot.compose import fresh_id
from bot.config import SlackSettings
from bot.drill.doubles.serve import serve
from bot.drill.doubles.slack import SlackDouble
from bot.drill.doubles.slack_deliver import Delivery
from bot.drill.doubles.slack_people import Address, People
from bot.drill.doubles.slack_room import Message
from cards.render.links import nowhere
from engine.desk.desk import Desk
from engine.desk.table import OFFERED
from engine.model.incident import Incident
from engine.model.org import Identity, Platform, Role
from storage.store import SqlStore
from tests.bot.sending import SLACK, Stage, stage, until

ROOM = SLACK.chat
SECRET = "signing-secret"
DM = "D0ALICE"


@dataclass
class Place:
    """What a test has in its hands."""

    stage: Stage
    front: SlackFront
    settings: SlackSettings
    stop: asyncio.Event

    @property
    def slack(self) -> SlackDouble:
        return self.stage.slack

    @property
    def people(self) -> People:
        return self.stage.slack.people

    async def card(self, *, with_finding: bool = False, **labels: Any) -> tuple[Incident, str]:
        """File an incident and wait for its card; gives the card's ts."""
        before = len(self.slack.cards(ROOM))
        incident = await self.stage.incident(**labels)
        if with_finding:
            await self.stage.finding(incident)
        await self.stage.wish(incident)
        await until(lambda: len(self.slack.cards(ROOM)) > before)
        await self.stage.settled()
        return incident, self.slack.cards(ROOM)[-1].ts

    async def press(
        self, ts: str, what: str, user: str = "UALICE", shown: Message | None = None
    ) -> Delivery:
        return await self.people.presses(ROOM, ts, what, user, shown=shown)

    def shown(self, ts: str) -> Message:
        return self.slack.space.channels[ROOM].messages[ts]

    def says(self, ts: str, words: str) -> bool:
        message = self.shown(ts)
        return words in f"{message.text} {message.blocks}"

    async def told(self, user: str = "UALICE", nth: int = 1) -> str:
        """The nth thing a person alone was told."""
        await until(lambda: len(self.slack.whispers(user)) >= nth, 5)
        return self.slack.whispers(user)[nth - 1]

    def modal(self, user: str = "UALICE") -> Any:
        return self.slack.space.modals.of(user)

    async def link(self, user: str, name: str, *roles: Role, active: bool = True) -> None:
        """Tie an account to a person."""
        async with self.stage.store.begin() as tx:
            person = await tx.people.add(name, by="test")
            await tx.people.keep_code(person, f"CODE-{name}", by="test")
            await tx.people.redeem(f"CODE-{name}", Identity(platform=Platform.SLACK, account=user))
            for role in roles:
                await tx.people.grant(person, "default", role, by="test")
            if not active:
                await tx.people.deactivate(person, by="test")


@asynccontextmanager
async def place(
    store: SqlStore, *, over_http: bool = False, desk: Any = None, **more: Any
) -> AsyncIterator[Place]:
    """Everything at work.

    Args:
        store: the database.
        over_http: take signed requests instead of web sockets.
        desk: the database as presses see it.
        more: settings of Slack.
    """
    async with stage(store, SLACK) as made:
        made.slack.person("UALICE", "alice", tz="Europe/Berlin")
        made.slack.person("UBOB", "bob")
        way = {"signing_secret": SECRET} if over_http else {"app_token": made.slack.app_token}
        given = {"bot_token": made.slack.token, "base_url": f"{made.slack_url}/api/"}
        settings = SlackSettings.model_validate({**given, **way, **more})
        async with (
            made.running(offered={Platform.SLACK: OFFERED}),
            taking(made, settings, desk or store) as (front, stop),
        ):
            yield Place(made, front, settings, stop)


@asynccontextmanager
async def taking(
    made: Stage, settings: SlackSettings, store: Any
) -> AsyncIterator[tuple[SlackFront, asyncio.Event]]:
    """Slack's deliveries are taken, from when they can come until what was taken is answered."""
    front = SlackFront(
        settings,
        inbox=Inbox(store, Desk(store, fresh_id)),
        commands=Commands(
            store, Install(connected={}, model=True, names=lambda _: (), count=lambda _: None)
        ),
        links=nowhere,
        clock=SystemClock(),
    )
    stop = asyncio.Event()
    running = asyncio.create_task(front.run(stop))
    try:
        async with _listening(front, made.slack, over_http=settings.app_token is None):
            yield front, stop
            stop.set()
            await asyncio.wait_for(running, 10)
    finally:
        running.cancel()


@asynccontextmanager
async def _listening(
    front: SlackFront, slack: SlackDouble, *, over_http: bool
) -> AsyncIterator[None]:
    if not over_http:
        await until(lambda: len(slack.sockets.open) == 2, 5)
        yield
        return
    app = FastAPI()
    app.post("/slack/events")(front.take)
    async with serve(app) as url:
        slack.people.over_http = Address(f"{url}/slack/events", SECRET)
        yield
