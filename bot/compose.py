"""The composition root: the only place that knows every concrete class."""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from fastapi import FastAPI

from bot.backends.chart import ChartDrawer
from bot.backends.clock import SystemClock
from bot.backends.hashing import HashedWords
from bot.backends.late import LateModel
from bot.backends.of_client import Backends
from bot.backends.of_client import connect as connect_backends
from bot.backends.prices import ASSUMED, Rate, cost_usd
from bot.backends.scoped import Scoped
from bot.backends.watched import WatchedModel, provider_id
from bot.chats.chat import Chat
from bot.chats.commands.command import Connected, Install
from bot.chats.commands.commands import Commands
from bot.chats.hearing import telegram_inbox
from bot.chats.inbox import Inbox
from bot.config import ClientSettings, ModelSettings, Settings
from bot.declare import source_id
from bot.door import Door
from bot.http.api import Api
from bot.http.app import web
from bot.http.sessions import Sessions
from bot.http.telegram import mount as mount_telegram
from bot.http.webhooks import Webhooks
from bot.jobs import JobHandlers
from bot.listen import SessionCounter
from bot.outbox import Outbox
from bot.paging.sender import PageSender
from bot.paging.table import pagers
from bot.poller import Poller
from bot.schedule import Sweeper
from bot.telemetry import BASES, PROVIDERS, Telemetry
from bot.worker import Worker
from cards.render.links import Allowed, listed
from engine.desk.desk import Desk
from engine.desk.table import OFFERED
from engine.intake import Filed, Rules
from engine.investigation.cache import CacheWatch
from engine.investigation.calls import Price
from engine.investigation.session import JudgePorts
from engine.model.action import Action
from engine.model.event import EventFacts, SessionEvent
from engine.model.llm import Capabilities
from engine.model.org import Platform
from engine.model.page import EscalationRoute
from engine.model.run import Run, Usage
from engine.pack.section import Ports as PackPorts
from engine.ports import LLM, Clock, Embedder, NewId, Queue
from engine.redact import Redactor
from engine.stages.world import Listener, StageRules, World
from storage.client_changes import ClientChanges
from storage.client_memory import ClientMemory
from storage.queue import PostgresQueue
from storage.store import SqlStore

if TYPE_CHECKING:
    from bot.chats.slack.front import SlackFront

FACTS_AT_ONCE = 8
SLACK_PATH = "/slack/events"
BACKENDS = ("prometheus", "alertmanager", "loki", "kubernetes", "zabbix")
"""What `status` says is connected or is not."""


def fresh_id() -> str:
    """A fresh identifier, 32 hex characters."""
    return uuid.uuid4().hex


@dataclass
class House:
    """Everything one process is made of; `bot/serve.py` starts and stops it."""

    settings: Settings
    store: SqlStore
    chats: Mapping[Platform, Chat]
    clock: Clock = field(default_factory=SystemClock)
    new_id: NewId = fresh_id
    telemetry: Telemetry = field(default_factory=Telemetry)
    also: Listener | None = None
    """Hears every step of a session beside the counters."""
    filed: Callable[[Filed], None] = lambda _: None
    """Hears what every delivery came to."""

    def __post_init__(self) -> None:
        """Wire the parts; nothing is asked and nothing runs yet."""
        self.redactor = Redactor(self.settings.secrets)
        self.embedder: Embedder = HashedWords()
        self.backends: Mapping[str, Backends] = {
            client: connect_backends(own, self.clock, "alertmanager")
            for client, own in self.settings.by_client.items()
        }
        self.provider = provider_of(self.settings.model)
        self.late_model = model_of(self.settings.model, self.redactor.text)
        self.model = self._watched(self.late_model)
        self.cache = CacheWatch()
        model = self.settings.model
        self._counter = SessionCounter(
            self.telemetry,
            provider=PROVIDERS[model.base_url is not None],
            basis=BASES[model.price_per_mtok is not None],
        )
        self.queue = PostgresQueue(
            self.store,
            per_client={Queue.TRIAGE: self.settings.triage.concurrency_per_client},
        )
        self.door = Door(
            store=self.store,
            clock=self.clock,
            new_id=self.new_id,
            redactor=self.redactor,
            telemetry=self.telemetry,
            rules=self.intake_rules,
            opened=self._tell,
        )
        self.pagers = pagers(self.settings, self.clock)
        self.page_sender = PageSender(self.store, self.pagers, self.telemetry)
        self.inbox = Inbox(self.store, Desk(self.store, self.new_id))
        self.commands = Commands(self.store, self._install())
        self.telegram = telegram_inbox(
            self.settings, self.store, self.inbox, self.commands, self.clock, self.links
        )
        self.outbox = Outbox(
            store=self.store,
            chats=self.chats,
            clock=self.clock,
            telemetry=self.telemetry,
            links=self.links,
            offered=self.offered,
            draw=ChartDrawer(self.settings.home / "charts").draw,
        )

    @property
    def offered(self) -> Mapping[Platform, Collection[Action]]:
        """What can be pressed in each chat: everything the desk knows, where presses are heard."""
        hears = {
            Platform.SLACK: self.settings.slack.takes,
            Platform.TELEGRAM: self.telegram is not None,
        }
        return {platform: OFFERED for platform, does in hears.items() if does}

    @cached_property
    def slack(self) -> "SlackFront | None":
        """Slack, incoming; its libraries are loaded only where it is configured."""
        if not self.settings.slack.takes:
            return None
        from bot.chats.slack.front import SlackFront  # noqa: PLC0415 - see above

        return SlackFront(
            self.settings.slack,
            inbox=self.inbox,
            commands=self.commands,
            links=self.links,
            clock=self.clock,
        )

    @property
    def links(self) -> Allowed:
        """Which hosts a card may link to: the listed ones and the backends' public ones."""
        own = self.settings
        public = [
            backend.public_url
            for client in own.by_client.values()
            for backend in (client.prometheus, client.alertmanager, client.loki, client.zabbix)
            if backend is not None and backend.public_url
        ]
        ours = [own.http.public_url] if own.http.public_url else []
        return listed(*own.links.hosts, *public, *ours)

    def intake_rules(self, client_id: str) -> Rules:
        """Rules of a client's intake, with the expressions its Prometheus told."""
        backends = self.backends.get(client_id)
        metrics = backends.metrics if backends else None
        return Rules(
            correlation=self.settings.correlation,
            recurrence=self.settings.recurrence,
            facts_card_s=self.settings.pack.facts_card_s,
            expressions=metrics.expressions if metrics else {},
            routes=self.routes(client_id),
        )

    def routes(self, client_id: str) -> tuple[EscalationRoute, ...]:
        """Who is paged for a client."""
        own = self.settings.by_client.get(client_id)
        return own.oncall.escalation if own else ()

    def world(self, client_id: str) -> World:
        """The world of a client's stages as it is now."""
        own = self.settings.by_client[client_id]
        return World(
            store=self.store,
            pack=self._pack_ports(client_id),
            judge=self._judge_ports(client_id),
            rules=StageRules(
                correlation=self.settings.correlation,
                pack=self.settings.pack,
                recurrence=self.settings.recurrence,
                recheck=self.settings.recheck,
                triage=self.settings.triage,
                budget=own.budget,
            ),
            provider=self.provider,
            rehearsal_model=self.settings.model.rehearsal,
            listen=self._hear,
        )

    def _watched(self, model: LLM | None) -> LLM | None:
        if model is None:
            return None
        rule, new_id = self.settings.triage, self.new_id
        return WatchedModel(model, self.provider, self.store, rule, new_id, self.telemetry)

    def _install(self) -> Install:
        """What commands say of this install."""
        clients = self.settings.by_client.items()
        return Install(
            connected={name: connected(own) for name, own in clients},
            model=self.model is not None,
            names=self._names,
            count=lambda result: self.telemetry.count("engage_requests_total", result=result),
        )

    def _names(self, client_id: str) -> Sequence[Mapping[str, str]]:
        metrics = self.backends[client_id].metrics if client_id in self.backends else None
        return metrics.names if metrics is not None else ()

    def _tell(self, filed: Filed) -> None:
        self.filed(filed)

    async def _hear(self, run: Run, kind: SessionEvent, facts: EventFacts) -> None:
        await self._counter(run, kind, facts)
        if self.also is not None:
            await self.also(run, kind, facts)

    def _pack_ports(self, client_id: str) -> PackPorts:
        backends = self.backends[client_id]
        metrics, logs, kubernetes = backends.metrics, backends.logs, backends.kubernetes
        return PackPorts(
            clock=self.clock,
            redact=self.redactor.text,
            metrics=Scoped(metrics.guarded, metrics.extra_matchers) if metrics else None,
            rules=metrics.tool if metrics else None,
            changes=ClientChanges(self.store, client_id),
            hosts=backends.hosts,
            memory=self._memory(client_id),
            logs=logs.guarded if logs else None,
            log_matchers=logs.matchers if logs else {},
            kubernetes=kubernetes.guarded if kubernetes else None,
        )

    def _memory(self, client_id: str) -> ClientMemory:
        held_s = self.settings.triage.memory_held_s
        return ClientMemory(self.store, client_id, self.embedder, held_s)

    def _judge_ports(self, client_id: str) -> JudgePorts | None:
        if self.model is None:
            return None
        backends = self.backends[client_id]
        metrics, logs, kubernetes = backends.metrics, backends.logs, backends.kubernetes
        return JudgePorts(
            store=self.store,
            llm=self.model,
            clock=self.clock,
            new_id=self.new_id,
            events=_unheard,
            price=price_of(self.settings.model),
            cache=self.cache,
            budget=self.settings.by_client[client_id].budget,
            embedder=self.embedder,
            metrics=metrics.guarded if metrics else None,
            arbiter=metrics.tool if metrics else None,
            server=metrics.server if metrics else None,
            logs=logs.guarded if logs else None,
            log_matchers=logs.matchers if logs else {},
            kubernetes=kubernetes.guarded if kubernetes else None,
            compliance=backends.compliance,
            redact=self.redactor.text,
            extra_matchers=metrics.extra_matchers if metrics else {},
            hosts=backends.hosts,
            correlation=self.settings.correlation,
        )

    def web(self, ready: Callable[[], str | None]) -> FastAPI:
        """The web server; `ready` says what is missing."""

        async def missing() -> str | None:
            return ready()

        app = web(
            Webhooks(self.door),
            Api(self.store),
            Sessions(self.store),
            self.telemetry,
            missing,
            chats={SLACK_PATH: self.slack.take} if self.slack is not None else {},
        )
        if self.telegram is not None and self.telegram.secret is not None:
            mount_telegram(app, self.telegram.secret.get_secret_value(), self.telegram.take)
        return app

    def worker(self) -> Worker:
        """A worker over both queues."""
        handlers = JobHandlers(self.world, self.store, self.new_id, self.clock, self.telemetry)
        slots = {Queue.FACTS: FACTS_AT_ONCE, Queue.TRIAGE: self.settings.triage.concurrency}
        return Worker(self.queue, handlers.table, slots)

    def pollers(self) -> list[Poller]:
        """One poller per client that has an Alertmanager."""
        return [
            Poller(source_id(client, "alertmanager"), backends, self.door, self.clock)
            for client, backends in self.backends.items()
            if backends.alerts is not None
        ]

    def sweeper(self) -> Sweeper:
        """The sweep of every client."""
        return Sweeper(
            store=self.store,
            new_id=self.new_id,
            rule=self.settings.incident,
            telemetry=self.telemetry,
            world=self.world,
            configured=self.settings.by_client,
            routes=self.routes,
            retention_s=self.settings.retention,
            audit_retention_s=self.settings.audit_retention,
            provider=self.provider,
            embedder=self.embedder,
        )


def connected(own: ClientSettings) -> Connected:
    """Which backends a client has, and which it could have."""
    there = {name: getattr(own, name) is not None for name in BACKENDS}
    return Connected(
        present=tuple(name for name, has in there.items() if has),
        absent=tuple(name for name, has in there.items() if not has),
        budget=own.budget,
        routes=len(own.oncall.routes),
    )


async def _unheard(_: object, __: object) -> None:
    """Stand in until a run puts its own listener here."""


def provider_of(settings: ModelSettings) -> str:
    """What the model's provider is known by."""
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    return provider_id(settings.base_url, key)


def model_of(settings: ModelSettings, redact: Callable[[str], str]) -> LateModel | None:
    """The configured model; None without a key."""
    if settings.api_key is None:
        return None
    key = settings.api_key.get_secret_value()
    able = Capabilities(
        structured_output=settings.structured_output, prompt_cache=settings.prompt_cache
    )

    def load() -> LLM:
        import anthropic  # noqa: PLC0415 - only where a key is, and beside everything else

        from bot.backends.anthropic import AnthropicModel, connect  # noqa: PLC0415 - see above

        http = anthropic.DefaultAsyncHttpxClient(
            proxy=settings.proxy,
            verify=str(settings.ca_file) if settings.ca_file else True,
            trust_env=False,
            follow_redirects=False,
        )
        client = connect(key=key, base_url=settings.base_url, http_client=http)
        return AnthropicModel(client=client, capabilities=able, redact=redact)

    return LateModel(able, load)


def price_of(settings: ModelSettings) -> Price:
    """What a call is assumed to cost."""
    if settings.price_per_mtok is None:
        return lambda model, usage: cost_usd(model, usage, ASSUMED)
    rate = Rate(input=settings.price_per_mtok[0], output=settings.price_per_mtok[1])

    def own(model: str, usage: Usage) -> float | None:
        return cost_usd(model, usage, {model.rsplit("/", 1)[-1].lower(): rate})

    return own
