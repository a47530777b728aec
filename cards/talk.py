"""What commands are answered with: help, status, settings, and why not."""

from collections.abc import Sequence

from cards.card import Card, Caveats, Line, Section, Text, Tone
from cards.figures import count, duration
from cards.line import bold, code, joined, say, text
from cards.render.limits import clean, cut
from engine.model.base import Frozen
from engine.model.org import Client, Role

SETTINGS_ROLE = Role.ADMIN
MOST_NAMES = 3
MOST_NAME = 60
MOST_REASON = 300

CODE_MISSING = say("Send the code with it; `caveat link` prints one for you, on the server.")
CODE_UNKNOWN = say("That code is unknown, used or out of time; nothing was changed.")
NO_ACCOUNT = say("A code ties one person's account; send it as yourself.")
NO_ROOM = say("Say this in the room that is to be tied.")
ANONYMOUS = say("Say this as yourself: an anonymous administrator has no account to note.")
NOT_ADMINISTRATOR = say("Only an administrator of this room can tie it.")
SETTINGS_USAGE = say("Say a flag and on or off, like: ", code("settings ai_triage on"))
UNKNOWN = say("That is not a command; ", code("help"), " lists them.")
NOTHING_HERE = say("Nothing may be asked about here: investigation is off, or no room is tied.")
NOT_BOUND = say("This room is tied to no client; ", code("bind CODE"), " ties it.")
GUEST = say("Only full members of this room may ask.")

BUDGET = say("The day's budget for models is used up; ask again after 00:00 UTC.")

COMMANDS: Sequence[tuple[str, str]] = (
    ("engage QUESTION", "looks into a question about what is running"),
    ("engage NUMBER", "shows what is known of an incident"),
    ("status", "what is on, what is connected, what cannot be seen"),
    ("link CODE", "ties your account to you"),
    ("bind CODE", "ties this room to a client or a team"),
    ("settings", "flags of the client, for administrators"),
)
FLAGS: Sequence[tuple[str, str]] = (
    ("ai_triage", "AI investigation"),
    ("ai_triage_manual", "only when somebody presses"),
    ("remediation", "fixes are proposed"),
    ("oncall_enabled", "paging"),
)


class Flagged(Frozen):
    """A client's flags, and which of them the configuration holds."""

    client: Client
    locked: tuple[str, ...] = ()
    legacy: bool | None = None
    """The old single flag, where it was ever set."""


class Standing(Frozen):
    """Where one client stands."""

    client: Client
    present: tuple[str, ...]
    absent: tuple[str, ...]
    open_incidents: int
    usd_today: float
    usd_per_day: float
    routes: int = 0
    """By how many somebody is paged."""


def linked(name: str) -> Line:
    """The account is known now."""
    return say("This account is ", bold(_cut(name)), " from now on.")


def bound(named: str) -> Line:
    """The room is tied now."""
    return say("This room is tied to ", bold(_cut(named)), " from now on.")


def switched(client_id: str, flag: str, value: str) -> Line:
    """A flag was set."""
    return say(code(client_id), ": ", code(flag), f" is {value} now.")


def refused(reason: str) -> Line:
    """Why a flag was not set."""
    return say(cut(clean(reason), MOST_REASON))


def which_client(names: Sequence[str]) -> Line:
    """Several could be meant."""
    listed = joined(tuple(say(code(name)) for name in names[:MOST_NAMES]), ", ")
    return (*say("Name the client first: "), *listed)


def not_administrator(ask: Sequence[str]) -> Line:
    """Who may change settings."""
    named = ", ".join(_cut(name) for name in ask[:MOST_NAMES])
    return say(f"Only an administrator may; {f'ask {named}' if named else 'nobody is one yet'}.")


def no_incident(number: str) -> Line:
    """Nothing here has this number."""
    return say("No incident ", bold(_cut(number)), " is known in this room.")


def too_often(most: int, within_s: float) -> Line:
    """One account asked too much."""
    return say(f"That is more than {most} questions in {duration(within_s)}; ask again shortly.")


def helped(askable: Sequence[str]) -> Card:
    """What can be said here."""
    listed = [say(code(said), f" — {does}") for said, does in COMMANDS]
    about = joined(tuple(say(code(name)) for name in askable), ", ")
    scope = (*say("This room may ask about "), *about, *say(".")) if askable else NOTHING_HERE
    return _card("help", "Caveat", [Text(lines=(scope,)), text(*listed)])


def settings(shown: Sequence[Flagged]) -> Card:
    """Every flag of the clients, and which cannot be changed here."""
    blocks = [text(say(bold(one.client.id)), *_flags(one)) for one in shown]
    return _card("settings", "Settings", [*blocks, text(SETTINGS_USAGE)])


def _flags(one: Flagged) -> list[Line]:
    lines = []
    for name, words in FLAGS:
        is_on = "on" if getattr(one.client.flags, name) else "off"
        locked = " · set in caveat.yaml" if name in one.locked else ""
        lines.append(say(code(name), f" ({words}): ", bold(is_on), locked))
    if one.legacy is not None:
        was = "on" if one.legacy else "off"
        lines.append(say(code("l1_agent"), f" (the old name of two flags): {was}"))
    return lines


def status(clients: Sequence[Standing], *, model: bool) -> Card:
    """What is on, what is connected, what cannot be seen."""
    blocks: list[Text | Caveats] = []
    for one in clients:
        blocks += _status(one)
    if not clients:
        blocks.append(text(NOT_BOUND))
    if not model:
        blocks.append(Caveats(lines=(say("no model is configured: facts cards only"),)))
    return _card("status", "Status", blocks)


def _status(one: Standing) -> list[Text | Caveats]:
    flags = one.client.flags
    is_on = "on" if flags.ai_triage else "off"
    hand = ", by hand" if flags.ai_triage and flags.ai_triage_manual else ""
    paging = _paging(one)
    lines = [
        joined((say(bold(one.client.id)), say(count(one.open_incidents, "open incident")))),
        say(f"investigation {is_on}{hand} · paging {paging}"),
        say(f"${one.usd_today:,.2f} of ${one.usd_per_day:,.2f} spent on models today (UTC)"),
    ]
    if one.present:
        lines.append(say(f"connected: {', '.join(one.present)}"))
    shown: list[Text | Caveats] = [text(*lines)]
    if one.absent:
        shown.append(Caveats(lines=(say(f"not connected: {', '.join(one.absent)}"),)))
    return shown


def _paging(one: Standing) -> str:
    if not one.client.flags.oncall_enabled:
        return "off"
    return (
        f"on, {count(one.routes, 'route')}" if one.routes else "on, but no route: nobody is paged"
    )


def _card(name: str, title: str, blocks: Sequence[Text | Caveats]) -> Card:
    body = Section(name=name, blocks=tuple(blocks), rank=10, keep=90)
    return Card(
        tone=Tone.ANSWER,
        heading=title,
        lock_screen=f"Caveat · {title}",
        sections=(body,),
        facts={"state": name},
    )


def _cut(said: str) -> str:
    return cut(clean(said), MOST_NAME)
