"""A scene: what is there, what happens when, and what must have come of it by then."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, field_validator, model_validator

from engine.model.policy import seconds
from tests.e2e.planted import Estate, Strict, after_curtain, numbered

Json = dict[str, Any]
SCENES = Path(__file__).parent / "scenes"
NEVER = "0001-01-01T00:00:00Z"
Backend = Literal["up", "hang", "down"]


class Alert(Strict):
    """An alert; `times` makes several, numbered from 1 by `{n}`."""

    rule: str
    severity: str = "critical"
    labels: dict[str, str] = {}
    began: str = "-2m"
    """When it started, from the curtain."""
    summary: str = ""
    annotations: dict[str, str] = {}
    times: int = 1

    def body(self, n: int, ended_at: datetime | None, began_at: datetime | None) -> Json:
        """What the sender says of the nth."""
        began = began_at or datetime.fromtimestamp(after_curtain(self.began), UTC)
        named = {"alertname": self.rule, "severity": self.severity, **self.labels}
        return {
            "status": "resolved" if ended_at else "firing",
            "labels": numbered(named, n),
            "annotations": {"summary": self.summary or f"{self.rule} fires", **self.annotations},
            "startsAt": iso(began),
            "endsAt": iso(ended_at) if ended_at else NEVER,
            "generatorURL": "",
        }


class Expected(Strict):
    """What must be true at that moment; only what is named is looked at."""

    cards: int | None = None
    """In each room."""
    open: int | None = None
    """Incidents that are open."""
    rang: int | None = None
    """Telegram messages with sound, from the beginning."""
    model_calls: int | None = None
    model_calls_most: int | None = None
    states: list[str] | None = None
    """Of the Slack cards, oldest first."""
    trust: str | None = None
    """Of the newest finding."""
    verify: str | None = None
    path: str | None = None
    prior_within: float | None = None
    """The adopted earlier case is no farther, as cosine distance."""
    disposition: str | None = None
    degraded: bool | None = None
    vetoes: list[str] | None = None
    caveats: list[str] | None = None
    confidence_most: float | None = None
    confidence: float | None = None
    floor: str | None = None
    """Text of the newest round's floor, in part."""
    queries: int | None = None
    """PromQL the metrics server was asked since the model was first asked; 0 is no floor."""
    dead: list[str] | None = None
    """Reasons of the dead letters, oldest first."""
    says: list[str] = []
    """Parts of the newest Slack card."""
    never_asked: list[str] = []
    """Parts of PromQL the metrics server was never sent."""
    never_says: list[str] = []
    """Parts no message in either chat has."""


class Corrected(Strict):
    """What a person says was really the cause of the newest incident's alerts."""

    cause: str
    cause_series: list[str] = []
    widened: list[str] = []


class Did(Strict):
    """Something a person does in one of the chats: presses a button of its newest card, or asks."""

    by: Literal["alice", "bob"]
    chat: Literal["slack", "telegram"]
    press: str = ""
    """What the button says."""
    ask: str = ""
    told: str = ""
    """Part of what they are told for it."""

    @property
    def words(self) -> str:
        did = f"presses {self.press}" if self.press else f"asks: {self.ask}"
        return f"{self.by} {did} ({self.chat})"


class Remembered(Strict):
    """What a person approved four weeks ago, and how it was kept."""

    symptom: str
    cause: str
    component: str
    cause_class: str
    fix: str
    by: str = "alice"
    at: datetime = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)

    def stub(self, number: int) -> Json:
        """Its fields as a stub has them."""
        return {
            "id": f"stub{number}",
            "symptom": self.symptom,
            "root_cause": self.cause,
            "root_cause_key": {"component": self.component, "cause_class": self.cause_class},
            "fix": self.fix,
            "confirmed_by": self.by,
            "confirmed_at": self.at,
            "fixed_at": self.at,
        }


class Act(Strict):
    """What happens at one moment."""

    at: str = "0s"
    fire: list[str] = []
    """Names of alerts; `pod 2-5` are the second to the fifth."""
    again: bool = False
    """The alerts start anew at this moment."""
    resolve: list[str] = []
    change: Json | None = None
    prometheus: Backend | None = None
    correct: Corrected | None = None
    """A person's correction of what fires, as if it had been captured earlier."""
    model: str | None = None
    """Another model answers from now on."""
    people: list[Did] = []
    """What people do then, one after the other."""
    expect: Expected | None = None
    facts_within_s: float | None = None
    """Real seconds a new card may take after the post."""

    @property
    def offset_s(self) -> float:
        return float(str(seconds(self.at)))


class Scene(Strict):
    """One scene."""

    name: str = ""
    about: str
    model: str = "honest"
    settings: Json = {}
    first_contact: bool = False
    """Nobody has heard of the source before."""
    memory: list[Remembered] = []
    estate: Estate = Estate()
    alerts: dict[str, Alert]
    acts: list[Act] = Field(min_length=1)

    @field_validator("alerts", mode="before")
    @classmethod
    def _rules_by_name(cls, given: Mapping[str, Json]) -> Json:
        return {name: {"rule": name, **alert} for name, alert in given.items()}

    @model_validator(mode="after")
    def _known_alerts(self) -> Self:
        for act in self.acts:
            list(self.posted(act, datetime.fromtimestamp(0, UTC)))
        return self

    def posted(self, act: Act, now: datetime) -> Iterator[Json]:
        """The alerts an act posts."""
        for name, n in chosen(act.fire, self.alerts):
            yield self.alerts[name].body(n, None, now if act.again else None)
        for name, n in chosen(act.resolve, self.alerts):
            yield self.alerts[name].body(n, now, self._began(name, act, now))

    def _began(self, name: str, act: Act, now: datetime) -> datetime | None:
        """When what is resolved now fired anew last; None: it is the first firing still."""
        earlier = (
            one.offset_s
            for one in self.acts
            if one.again
            and one.offset_s < act.offset_s
            and name in {n.split()[0] for n in one.fire}
        )
        newest = max(earlier, default=None)
        return None if newest is None else now - timedelta(seconds=act.offset_s - newest)


def chosen(names: list[str], alerts: Mapping[str, Alert]) -> Iterator[tuple[str, int]]:
    """Read `pod`, `pod 3` and `pod 2-5`."""
    for said in names:
        name, _, span = said.partition(" ")
        first, _, last = (span or f"1-{alerts[name].times}").partition("-")
        for n in range(int(first), int(last or first) + 1):
            yield name, n


def iso(at: datetime) -> str:
    """A moment as Alertmanager writes it."""
    return at.isoformat().replace("+00:00", "Z")


def scenes() -> list[Scene]:
    """Every scene, by name."""
    return [read(path) for path in sorted(SCENES.glob("*.yaml"))]


def scene(name: str) -> Scene:
    """One scene by its name."""
    return read(SCENES / f"{name}.yaml")


def read(path: Path) -> Scene:
    """One scene from its file."""
    return Scene.model_validate({"name": path.stem, **yaml.safe_load(path.read_text("utf-8"))})
