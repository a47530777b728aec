"""Plays a scene and writes down what people in the rooms saw."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.drill.doubles.faults import Fault, Hang, bad_gateway
from bot.drill.doubles.slack_room import Message
from storage.embedded import EmbeddedPostgres
from tests.e2e.moved import CURTAIN
from tests.e2e.planted import plant_estate
from tests.e2e.scene import Act, Did, Expected, Scene
from tests.e2e.scripted import SCRIPTS
from tests.e2e.theatre import (
    REAL_WAIT_S,
    SLACK_PEOPLE,
    SLACK_ROOM,
    TELEGRAM_PEOPLE,
    TELEGRAM_ROOM,
    Theatre,
    open_theatre,
)

Json = dict[str, Any]
CLOCK = re.compile(
    r"\d+[:\u200b]+\d+(:\d+Z)?|\d+(\.\d+)? (min|s|h)\b( \d+ (min|s)\b)?|(?<=\^)\d{10}(?=\^)"
)
"""Times and spans, which follow the machine's own pace by a second or two."""
ARRIVED = "select count(*) from arrivals"
FAULTS: Mapping[str, Fault | None] = {"up": None, "hang": Hang(), "down": bad_gateway()}


async def play(scene: Scene, postgres: EmbeddedPostgres, home: Path) -> str:
    """Play a scene from beginning to end; gives its transcript.

    Raises:
        AssertionError: something an act expects was not so; the transcript so far is in it.
    """
    told = [f"{scene.name}: {scene.about}"]
    async with open_theatre(
        postgres,
        home,
        answer=SCRIPTS[scene.model],
        plant=lambda metrics: plant_estate(metrics, scene.estate),
        change=lambda raw: merge(raw, scene.settings),
        known=not scene.first_contact,
    ) as theatre:
        for number, kept in enumerate(scene.memory, start=1):
            await theatre.remember(**kept.stub(number))
        for act in scene.acts:
            heard = await perform(scene, act, theatre)
            told += [heading(act), *heard, *await seen(theatre)]
            if act.expect is not None:
                faults = await unmet(act.expect, theatre)
                assert not faults, "\n".join([*faults, "", *told])
    return "\n".join(told) + "\n"


async def perform(scene: Scene, act: Act, theatre: Theatre) -> list[str]:
    """Let one act happen and come to rest; gives what people were told for what they did."""
    if act.prometheus is not None:
        theatre.metrics.broken = FAULTS[act.prometheus]
    if act.model is not None:
        theatre.model.answer = SCRIPTS[act.model]
    if act.offset_s:
        await theatre.jump(act.offset_s)
    if act.change is not None:
        at = CURTAIN + timedelta(seconds=act.offset_s)
        reply = await theatre.post({"at": at.isoformat(), **act.change}, "changes")
        assert reply.status_code == 202, reply.text
    if act.correct is not None:
        await theatre.correct(**act.correct.model_dump())
    posted = list(scene.posted(act, CURTAIN + timedelta(seconds=act.offset_s)))
    if posted:
        await theatre.fire(*posted)
    await theatre.quiet()
    heard = [line for one in act.people for line in await do(one, theatre)]
    if act.facts_within_s is not None:
        took_s = theatre.first_post_s()
        assert took_s is not None, "no card was posted"
        assert took_s <= act.facts_within_s, f"the facts card took {took_s:.2f} s"
    return heard


async def do(one: Did, theatre: Theatre) -> list[str]:
    """Let a person press or ask; gives what they are told alone."""
    before, dealt_with = told(one, theatre), await theatre.count(ARRIVED)
    if one.chat == "slack":
        await _in_slack(one, theatre)
    else:
        await _in_telegram(one, theatre)
    async with asyncio.timeout(REAL_WAIT_S):
        while await theatre.count(ARRIVED) == dealt_with:
            await asyncio.sleep(0.03)
    if one.told:
        await theatre.until(lambda: len(told(one, theatre)) > len(before))
        newest = told(one, theatre)[-1]
        assert one.told in newest, f"{one.words}: {newest}"
    await theatre.quiet()
    return [f"{one.by} is told: {CLOCK.sub('…', told(one, theatre)[-1])}"] if one.told else []


async def _in_slack(one: Did, theatre: Theatre) -> None:
    user = SLACK_PEOPLE[one.by]
    if one.ask:
        await theatre.slack.people.commands(SLACK_ROOM, "/engage", one.ask, user)
    else:
        card = theatre.slack.cards(SLACK_ROOM)[-1]
        await theatre.slack.people.presses(SLACK_ROOM, card.ts, one.press, user)


async def _in_telegram(one: Did, theatre: Theatre) -> None:
    user = TELEGRAM_PEOPLE[one.by]
    if one.ask:
        await theatre.telegram.says(TELEGRAM_ROOM, user, f"/engage {one.ask}")
        return
    card = [m for m in theatre.telegram.messages(TELEGRAM_ROOM) if m.buttons][-1]
    keys = {key["text"]: key["callback_data"] for key in card.buttons}
    await theatre.telegram.presses(TELEGRAM_ROOM, card.id, keys[one.press], user)


def told(one: Did, theatre: Theatre) -> list[str]:
    """What the bot told a person alone."""
    if one.chat == "slack":
        return theatre.slack.whispers(SLACK_PEOPLE[one.by])
    return [str(answer.get("text") or "") for answer in theatre.telegram.space.answers]


def heading(act: Act) -> str:
    """One line: when, and what happened."""
    at = CURTAIN + timedelta(seconds=act.offset_s)
    did = [f"fire {', '.join(act.fire)}"] if act.fire else []
    did += [f"resolve {', '.join(act.resolve)}"] if act.resolve else []
    did += ["a change is reported"] if act.change else []
    did += ["a person had said what it really was"] if act.correct else []
    did += [one.words for one in act.people]
    did += [f"prometheus {act.prometheus}"] if act.prometheus else []
    did += [f"the model is {act.model}"] if act.model else []
    return f"\n== {at:%d %H:%M:%S} (+{act.at}) {'; '.join(did) or 'time passes'}"


async def seen(theatre: Theatre) -> list[str]:
    """What the rooms show now, and the noise so far."""
    told: list[str] = []
    for message in theatre.slack.cards(SLACK_ROOM):
        told += [f"slack [{state_of(message)}] {CLOCK.sub('…', message.text)}"]
        told += [f"    {line}" for line in outline(body_of(message))]
        told += [
            f"  > {CLOCK.sub('…', reply.text)}"
            for reply in theatre.slack.thread(SLACK_ROOM, message.ts)
        ]
    for sent in theatre.telegram.messages(TELEGRAM_ROOM):
        mark = "telegram" if sent.reply_to is None else "  > telegram"
        told += [f"{mark}{'' if sent.silent else ' (rings)'} {sent.text.splitlines()[0]}"]
        if sent.buttons:
            told += ["    [" + "] [".join(key["text"] for key in sent.buttons) + "]"]
    told += [f"noise: {json.dumps(await ledger(theatre))}"]
    return told


async def ledger(theatre: Theatre) -> Json:
    """The noise so far: cards, audible messages, model calls."""
    telegram = theatre.telegram.messages(TELEGRAM_ROOM)
    return {
        "cards": sum(not is_answer(m) for m in theatre.slack.cards(SLACK_ROOM)),
        "telegram cards": sum(m.reply_to is None for m in telegram),
        "rang": len(theatre.telegram.audible(TELEGRAM_ROOM)),
        "model calls": len(theatre.model.asked),
        "incidents": await theatre.count("select count(*) from incidents"),
    }


def is_answer(message: Message) -> bool:
    """Whether it answers a question; in Telegram such a message stands below the question."""
    return state_of(message).startswith("inquiry")


def state_of(message: Message) -> str:
    """The state a Slack card says it is in."""
    return str((message.metadata or {}).get("event_payload", {}).get("state", "?"))


def body_of(message: Message) -> list[str]:
    """Every text of a Slack card's blocks, line by line, buttons last."""
    return [line for block in message.blocks for line in _texts(block)]


def outline(body: list[str]) -> Iterator[str]:
    """The lines of a card that say how sure it is: heading, titles, caveats, buttons."""
    yield from body[:1]
    for line in body[1:]:
        if line.startswith(("*", "⚠", "[")):
            short = line.split(" — ")[0] if line.startswith("*Can it wait") else line
            yield CLOCK.sub("…", short)


def _texts(block: Json) -> list[str]:
    if block["type"] == "actions":
        labels = [_label(element) for element in block["elements"]]
        return ["[" + "] [".join(labels) + "]"]
    texts = [block["text"]] if "text" in block else block.get("elements", [])
    return [line for text in texts for line in str(text["text"]).splitlines()]


def _label(element: Json) -> str:
    return str(element["text"]["text"]) if "text" in element else "⋯"


async def unmet(expected: Expected, theatre: Theatre) -> list[str]:
    """Everything expected that is not so."""
    want = expected.model_dump(exclude_none=True, exclude_unset=True)
    says, never = want.pop("says", []), want.pop("never_says", [])
    sent = "\n".join(query for _, query in theatre.metrics.asked if query)
    unasked = [part for part in want.pop("never_asked", []) if part in sent]
    most = want.pop("model_calls_most", None)
    cap = want.pop("confidence_most", None)
    floor = want.pop("floor", None)
    near = want.pop("prior_within", None)
    real = await facts(theatre)
    faults = [f"{k}: wanted {v}, was {real[k]}" for k, v in want.items() if real[k] != v]
    if most is not None and real["model_calls"] > most:
        faults.append(f"model_calls: wanted at most {most}, was {real['model_calls']}")
    if cap is not None and (real["confidence"] is None or real["confidence"] > cap):
        faults.append(f"confidence: wanted at most {cap}, was {real['confidence']}")
    if near is not None and (real["prior"] is None or real["prior"] > near):
        faults.append(f"prior_within: wanted at most {near}, was {real['prior']}")
    if floor is not None and floor not in real["floor"]:
        faults.append(f"floor: wanted {floor!r} in {real['floor']!r}")
    newest, everything = words(theatre)
    faults += [f"the newest card does not say {part!r}" for part in says if part not in newest]
    faults += [f"the metrics server was asked {part!r}" for part in unasked]
    return faults + [f"somebody is told {part!r}" for part in never if part in everything]


def words(theatre: Theatre) -> tuple[str, str]:
    """The newest Slack card, and everything anybody was ever told."""
    cards = theatre.slack.cards(SLACK_ROOM)
    newest = "\n".join([cards[-1].text, *body_of(cards[-1])]) if cards else ""
    channel = theatre.slack.space.channels[SLACK_ROOM].messages.values()
    slack = [m for one in channel for m in (one, *one.earlier)]
    telegram = [m.text for m in theatre.telegram.messages(TELEGRAM_ROOM)]
    every = [line for m in slack for line in (m.text, *body_of(m))]
    return newest, "\n".join([*every, *telegram])


async def facts(theatre: Theatre) -> Json:
    """What can be expected, as it is."""
    cases = await theatre.cases()
    noise = await ledger(theatre)
    found = [case.finding for case in cases if case.finding is not None]
    newest = max(found, key=lambda finding: finding.created_at, default=None)
    round_ = newest.round if newest else None
    asked = [query for _, query in theatre.metrics.asked if query]
    assert noise["cards"] == noise["telegram cards"], "one room has a card the other has not"
    return {
        "cards": noise["cards"],
        "open": sum(case.incident.state == "open" for case in cases),
        "rang": noise["rang"],
        "model_calls": noise["model calls"],
        "states": [state_of(m) for m in theatre.slack.cards(SLACK_ROOM)],
        "trust": newest and newest.trust_level.value,
        "path": newest and newest.path.value,
        "prior": newest and newest.prior and newest.prior.distance,
        "verify": newest and newest.verify_status.value,
        "disposition": newest and newest.disposition.value,
        "vetoes": [v.value for v in newest.vetoes] if newest else [],
        "caveats": [c.code.value for c in newest.caveats] if newest else [],
        "confidence": newest and newest.confidence,
        "degraded": bool(round_ and round_.degraded),
        "floor": " | ".join(r.text for r in round_.results) if round_ else "",
        "queries": len(asked),
        "dead": await theatre.words("select reason from dead_letters order by id"),
    }


def merge(raw: Json, settings: Json) -> None:
    """Lay a scene's settings over the theatre's; None takes a key out."""
    for key, value in settings.items():
        if value is None:
            raw.pop(key, None)
        elif isinstance(value, dict) and isinstance(raw.get(key), dict):
            merge(raw[key], value)
        else:
            raw[key] = value
