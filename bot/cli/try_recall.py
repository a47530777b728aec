"""`caveat try recall`: which documents of a corpus memory would find first.

The documents are stored and searched by the code that stores and searches resolutions, in a
database of their own that is gone afterwards.
"""

import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from bot.backends.hashing import HashedWords
from bot.cli.errors import CommandError
from engine.memory.learning import learn
from engine.model.finding import CauseKey
from engine.model.memory import Stub, StubState
from engine.model.pack import CauseClass
from storage.embedded import EmbeddedPostgres
from storage.migrate import migrate
from storage.postgres.programs import vector_supported
from storage.store import SqlStore, open_store

CLIENT = "corpus"
AT_ONCE = 1000
"""Documents embedded between two looks at what is left."""
MOST = 20
"""Documents given per query, best first."""
ANY_DISTANCE = 2.0


async def run_recall(
    documents: Mapping[str, str], queries: Mapping[str, str]
) -> AsyncIterator[str]:
    """Rank the documents for each query, both as texts by their ids.

    Raises:
        CommandError: this machine cannot search by likeness.
    """
    embedder = HashedWords()
    async with searched(documents) as store:
        for asked, text in queries.items():
            vector = await embedder.embed(text)
            async with store.begin() as tx:
                found = await tx.stubs.similar(
                    CLIENT, text, embedder.name, vector, most=ANY_DISTANCE, held_s=1, limit=MOST
                )
            ranked = [near.stub.id for near in found or ()]
            yield json.dumps({"id": asked, "ranked": ranked}, ensure_ascii=False)


def read(lines: Iterable[str]) -> Mapping[str, str]:
    """Texts by their ids; blank lines are skipped.

    Raises:
        CommandError: a line cannot be read.
    """
    return dict(_pair(number, line) for number, line in enumerate(lines, 1) if line.strip())


def _pair(number: int, line: str) -> tuple[str, str]:
    try:
        told = json.loads(line)
        named, text = told["id"], told["text"]
    except (ValueError, KeyError, TypeError) as error:
        raise CommandError(f"line {number}: not an object with id and text") from error
    return str(named), str(text).replace("\0", " ")


@asynccontextmanager
async def searched(documents: Mapping[str, str]) -> AsyncIterator[SqlStore]:
    """A store that remembers the documents, for as long as it is open.

    Raises:
        CommandError: this machine cannot search by likeness.
    """
    fits, why = vector_supported()
    if not fits:
        raise CommandError(why)
    with _folder() as folder:
        server = EmbeddedPostgres(folder, fast=True)
        try:
            url = await server.start().ensure_database(CLIENT)
            await migrate(url)
            store = open_store(url, pool_size=2)
            await _remember(store, documents)
            yield store
            await store.close()
        finally:
            server.stop()


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder of our own that the user PostgreSQL runs as can enter."""
    made = Path(tempfile.mkdtemp(prefix="caveat-"))
    try:
        made.chmod(0o711)
        yield made
    finally:
        shutil.rmtree(made)


async def _remember(store: SqlStore, documents: Mapping[str, str]) -> None:
    async with store.begin() as tx:
        for stub in _stubs(documents):
            await tx.stubs.keep(stub)
    embedder = HashedWords()
    while await learn(store, embedder, AT_ONCE):
        pass


def _stubs(documents: Mapping[str, str]) -> Iterator[Stub]:
    for named, text in documents.items():
        yield Stub(
            id=named,
            client_id=CLIENT,
            family_key=named,
            symptom=text,
            root_cause="",
            root_cause_key=CauseKey(component="", cause_class=CauseClass.OTHER),
            fix="",
            state=StubState.APPROVED,
        )
