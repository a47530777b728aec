"""Questions below a card, answered by a key or by a reply, and every other answer said there."""

from typing import NamedTuple

from telegram import ForceReply, Message

from bot.chats.arrival import Arrival, Asked, Reply, Shown, Told
from bot.chats.inbox import Inbox
from bot.chats.telegram.voice import Place, Voice, below, keyboard
from cards import asking
from cards.answers import of_button
from cards.card import Card, Mention
from engine.model.desk import FieldName
from storage.prompts import Prompt
from storage.store import SqlStore

WRITE = "w"
"""In place of a choice's number: it is written instead."""


class Put(NamedTuple):
    """A question where it stands."""

    prompt_id: str
    waiting: Prompt | None
    """None: it is closed, or another account's."""


def data_of(prompt_id: str, choice: str) -> str:
    """What a key of a question sends: 28 bytes at most."""
    return f"p:{prompt_id}:{choice}"


def mention(arrival: Arrival) -> Mention:
    """Whoever is asked: only who is named in it gets the reply field opened."""
    return Mention(account=arrival.identity.account, name=arrival.name)


class Questions:
    """Puts questions and takes their answers."""

    def __init__(self, store: SqlStore, inbox: Inbox, voice: Voice) -> None:
        """Take answers to `inbox`."""
        self._store = store
        self._inbox = inbox
        self._voice = voice

    async def reply(self, reply: Reply, place: Place, arrival: Arrival) -> bool:
        """Say anything below a message; False when it could not be said."""
        match reply:
            case Told(line=line):
                return await self._voice.say(place, asking.aside(line)) is not None
            case Shown(card=card):
                return await self._voice.say(place, card) is not None
            case Asked():
                return await self._ask(reply, place, arrival)

    async def _ask(self, asked: Asked, place: Place, arrival: Arrival) -> bool:
        form, prompt_id = asked.form, asked.prompt_id
        labels = asking.keys(form)
        if not labels:
            return await self._open(prompt_id, place, asking.written(form, mention(arrival)))
        keys = [(label, data_of(prompt_id, str(n))) for n, label in enumerate(labels)]
        if asking.may_be_written(form):
            keys.append((asking.OTHER, data_of(prompt_id, WRITE)))
        card = asking.choice(form, mention(arrival))
        return await self._put(prompt_id, place, await self._voice.say(place, card, keyboard(keys)))

    async def write_instead(self, prompt: Prompt, question: Message, arrival: Arrival) -> bool:
        """Let what was to be chosen be written."""
        card = question.reply_to_message or question
        asked = asking.other_cause(of_button(prompt.action), mention(arrival))
        return await self._open(prompt.id, below(card), asked)

    async def _open(self, prompt_id: str, place: Place, card: Card) -> bool:
        """Ask for a reply; a reply to us reaches us even where the bot hears little else."""
        return await self._put(
            prompt_id, place, await self._voice.say(place, card, ForceReply(selective=True))
        )

    async def _put(self, prompt_id: str, place: Place, said: int | None) -> bool:
        if said is None:
            return False
        async with self._store.begin() as tx:
            await tx.prompts.placed(prompt_id, ref(place.chat, said))
        return True

    async def waiting(self, prompt_id: str) -> Prompt | None:
        """A question that still waits for its answer."""
        async with self._store.begin() as tx:
            return await tx.prompts.waiting(prompt_id)

    async def at(self, arrival: Arrival, message: Message) -> Put | None:
        """The question a message of ours puts; None when it puts none."""
        place = ref(message.chat.id, message.message_id)
        account = f"{arrival.identity.platform}:{arrival.identity.account}"
        async with self._store.begin() as tx:
            prompt = await tx.prompts.of_message(account, place)
            prompt_id = prompt.id if prompt else await tx.prompts.at_message(place)
        return None if prompt_id is None else Put(prompt_id, prompt)

    async def answer(self, arrival: Arrival, put: Put, said: str) -> Reply | None:
        """Take a reply to a question of ours; the inbox says whose it was to answer."""
        asked = put.waiting
        values = asking.answered(said, FieldName(asked.asks), asked.draft) if asked else {}
        return await self._inbox.hand_in(arrival, put.prompt_id, values)


def ref(chat: int, message: int) -> str:
    """Message ids are a chat's own."""
    return f"{chat}:{message}"
