"""One transaction and every repository in it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

from engine.errors import StoreUnavailableError
from engine.model.run import CaseFile
from storage.arrivals import ArrivalRows
from storage.audit import AuditRows
from storage.buttons import ButtonRows
from storage.calls import CallRows
from storage.cards import CardRows
from storage.cases import CaseRows
from storage.changes import ChangeRows
from storage.charts import ChartRows
from storage.corrections import CorrectionRows
from storage.events import EventRows
from storage.findings import FindingRows
from storage.heartbeats import HeartbeatRows
from storage.incidents import IncidentRows
from storage.inquiries import InquiryRows
from storage.jobs import JobRows
from storage.letters import LetterRows
from storage.lookups import LookupRows
from storage.mutes import MuteRows
from storage.org import OrgRows
from storage.outages import OutageRows
from storage.outbox import OutboxRows
from storage.outcomes import OutcomeRows
from storage.pages import PageRows
from storage.people import PeopleRows
from storage.prompts import PromptRows
from storage.quarantine import QuarantineRows
from storage.reviews import ReviewRows
from storage.rooms import RoomRows
from storage.runs import RunRows
from storage.sessions import SessionRows
from storage.sources import SourceRows
from storage.stubs import StubRows
from storage.tokens import TokenRows


class SqlTx:
    """An open transaction; each repository speaks through its session."""

    def __init__(self, session: AsyncSession, audit_key: bytes) -> None:
        """Bind every repository to one session."""
        self.session = session
        self.audit = AuditRows(session, audit_key)
        self.arrivals = ArrivalRows(session)
        self.buttons = ButtonRows(session)
        self.calls = CallRows(session)
        self.cards = CardRows(session)
        self.changes = ChangeRows(session)
        self.charts = ChartRows(session)
        self.corrections = CorrectionRows(session)
        self.events = EventRows(session)
        self.findings = FindingRows(session)
        self.heartbeats = HeartbeatRows(session)
        self.incidents = IncidentRows(session)
        self.inquiries = InquiryRows(session)
        self.jobs = JobRows(session)
        self.letters = LetterRows(session, self.audit)
        self.lookups = LookupRows(session)
        self.mutes = MuteRows(session)
        self.org = OrgRows(session)
        self.pages = PageRows(session)
        self.people = PeopleRows(session, self.audit)
        self.outages = OutageRows(session)
        self.outbox = OutboxRows(session)
        self.outcomes = OutcomeRows(session)
        self.prompts = PromptRows(session)
        self.quarantine = QuarantineRows(session)
        self.reviews = ReviewRows(session)
        self.rooms = RoomRows(session)
        self.runs = RunRows(session)
        self.sources = SourceRows(session)
        self.steps = SessionRows(session)
        self.stubs = StubRows(session)
        self.tokens = TokenRows(session, self.audit)

    async def case(self, incident_id: str) -> CaseFile | None:
        """The whole case of an incident."""
        return await CaseRows(self.session).case(incident_id)

    async def now(self) -> datetime:
        """Database time."""
        now: datetime = (await self.session.execute(select(func.clock_timestamp()))).scalar_one()
        return now


class SqlStore:
    """The database behind a pool."""

    def __init__(self, engine: AsyncEngine, audit_key: bytes = b"") -> None:
        """Take an engine and the key that seals the audit trail."""
        self.engine = engine
        self._audit_key = audit_key

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[SqlTx]:
        """Open a transaction: committed on leaving, rolled back on an error.

        Raises:
            StoreUnavailableError: the database went away, is full or did not take the commit.
        """
        try:
            async with (
                AsyncSession(self.engine, expire_on_commit=False) as session,
                session.begin(),
            ):
                yield SqlTx(session, self._audit_key)
        except (OperationalError, InterfaceError, PoolTimeoutError) as error:
            raise StoreUnavailableError(type(error.__cause__ or error).__name__) from error

    async def close(self) -> None:
        """Let every connection go."""
        await self.engine.dispose()


def open_store(url: str, *, audit_key: bytes = b"", pool_size: int = 8) -> SqlStore:
    """Make a store from a SQLAlchemy URL (`postgresql+psycopg://…`)."""
    engine = create_async_engine(url, pool_pre_ping=True, pool_size=pool_size)
    return SqlStore(engine, audit_key)
