"""What people do in Slack, taken to the desk and to the commands, and answered."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from slack_sdk.web.async_client import AsyncWebClient

from bot.chats.arrival import Arrival, Asked, Reply, Shown, Told
from bot.chats.commands.commands import Commands
from bot.chats.inbox import Inbox
from bot.chats.slack.delivery import Delivery, Pressed, Sent, Spoken, kept
from bot.chats.slack.groups import Usergroups
from bot.chats.slack.people import Directory
from bot.chats.slack.repeats import Repeats
from bot.chats.slack.whispers import Whispers
from bot.chats.slack.windows import Shut, Window, Windows
from cards import answers
from cards.actions import LABELS
from cards.render import slack_form
from engine.desk.table import ACTS
from engine.errors import StoreUnavailableError
from engine.model.action import Action
from engine.model.desk import FieldName
from engine.model.org import Identity, Platform

PREFIX = "caveat."
MENU = "caveat.more"
_BY_LABEL: Mapping[str, Action] = {label: action for action, label in LABELS.items()}
Ask = Callable[[Arrival], Awaitable[Reply | None]]


class SlackInbox:
    """Takes each delivery once; every one of them gets an answer."""

    def __init__(
        self,
        client: AsyncWebClient,
        *,
        inbox: Inbox,
        commands: Commands,
        directory: Directory,
        groups: Usergroups,
        whispers: Whispers,
    ) -> None:
        """Answer through `client`."""
        self._inbox = inbox
        self._commands = commands
        self._directory = directory
        self._groups = groups
        self._whispers = whispers
        self._windows = Windows(client)
        self._repeats = Repeats()

    async def press(self, pressed: Pressed) -> None:
        """Take a press to the desk; what asks for more gets its modal at once."""
        async with self._repeats.once(pressed.key) as is_first:
            if not is_first:
                return
            action = action_of(pressed)
            if action is None and pressed.action_id != MENU:
                await self._tell(pressed, Told(line=answers.OLD_CARD))
            elif action is not None and asks(action):
                await self._press_that_asks(pressed, action)
            else:
                await self._settle(pressed, await self._pressed(pressed))

    async def hand_in(self, sent: Sent) -> None:
        """Take a form to the desk."""
        written = {FieldName(n): v for n, v in sent.values.items() if v and n not in sent.choices}
        places = {FieldName(n): int(v) for n, v in sent.values.items() if v and n in sent.choices}

        async def hand_in(arrival: Arrival) -> Reply | None:
            return await self._inbox.hand_in(arrival, sent.prompt_id, written, places)

        async with self._repeats.once(sent.key) as is_first:
            if is_first:
                await self._settle(sent, await self._asked(sent, hand_in))

    async def say(self, spoken: Spoken) -> None:
        """Take a command or a question to whoever answers it."""

        async def say(arrival: Arrival) -> Reply | None:
            runs_it = spoken.verb == "bind" and await self._directory.in_charge(
                spoken.account, spoken.channel
            )
            arrival = arrival.model_copy(update={"administers": runs_it})
            return await self._commands.say(arrival, spoken.verb, spoken.rest)

        async with self._repeats.once(spoken.key) as is_first:
            if is_first:
                await self._settle(spoken, await self._asked(spoken, say))

    async def broke(self, delivery: Delivery) -> None:
        """Say that something went wrong."""
        await self._tell(delivery, Told(line=answers.BROKEN))

    async def _press_that_asks(self, pressed: Pressed, action: Action) -> None:
        """Open a modal first, as Slack gives three seconds and the database may need longer."""
        loading = slack_form.loading(answers.of_button(action))
        window, standing = await asyncio.gather(
            self._windows.open(pressed.trigger_id, loading), self._arrival(pressed)
        )
        if isinstance(window, Shut):
            if window is Shut.LATE:
                await self._tell(pressed, Told(line=answers.WINDOW_CLOSED))
            return
        reply = await self._pressed(pressed, standing)
        if reply is not None:
            await self._fill(pressed, window, reply)

    async def _fill(self, pressed: Pressed, window: Window, reply: Reply) -> None:
        """Put what came of a press into its modal; whoever closed it hears it below the card."""
        if isinstance(reply, Asked):
            carried = kept(pressed, reply.prompt_id)
            if not await self._windows.change(window, slack_form.modal(reply.form, carried)):
                await self._tell(pressed, Told(line=answers.WINDOW_CLOSED))
            return
        line = reply.line if isinstance(reply, Told) else answers.HERE
        seen = await self._windows.change(window, slack_form.note(window.title, line))
        if not seen or isinstance(reply, Shown):
            await self._tell(pressed, reply)

    async def _pressed(self, pressed: Pressed, arrival: Arrival | None = None) -> Reply | None:
        async def press(arrived: Arrival) -> Reply | None:
            return await self._inbox.press(arrived, pressed.token)

        return await self._asked(pressed, press, arrival)

    async def _asked(
        self, delivery: Delivery, ask: Ask, arrival: Arrival | None = None
    ) -> Reply | None:
        try:
            return await ask(arrival or await self._arrival(delivery))
        except StoreUnavailableError:
            return Told(line=answers.AWAY)

    async def _settle(self, delivery: Delivery, reply: Reply | None) -> None:
        if isinstance(reply, Asked):
            carried = kept(delivery, reply.prompt_id)
            form = slack_form.modal(reply.form, carried)
            if await self._windows.open(delivery.trigger_id, form) is Shut.LATE:
                await self._tell(delivery, Told(line=answers.WINDOW_CLOSED))
        elif reply is not None:
            await self._tell(delivery, reply)

    async def _tell(self, delivery: Delivery, reply: Told | Shown) -> None:
        await self._whispers.tell(delivery, reply)

    async def _arrival(self, delivery: Delivery) -> Arrival:
        """Who did it, as Slack says now."""
        standing = await self._directory.look_up(delivery.account, delivery.channel)
        return Arrival(
            key=delivery.key,
            identity=Identity(platform=Platform.SLACK, account=delivery.account),
            name=standing.name or delivery.name or delivery.account,
            membership=standing.membership,
            chat=delivery.channel,
            private=delivery.channel.startswith("D"),
            timezone=standing.timezone,
            roles=self._groups.roles_of(delivery.account),
            message_ref=delivery.about,
        )


def asks(action: Action) -> bool:
    """Whether more has to be known before it is done."""
    return action in ACTS and ACTS[action].asks is not None


def action_of(pressed: Pressed) -> Action | None:
    """What a press is about to ask, as far as it says so itself; the desk reads its token."""
    if pressed.action_id == MENU:
        return _BY_LABEL.get(pressed.label)
    name = pressed.action_id.removeprefix(PREFIX).partition(".")[0]
    return next((one for one in Action if one == name), None)
