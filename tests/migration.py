"""Writes the next migration from what storage/tables.py says: `python -m tests.migration WORDS`.

Read what it wrote: autogenerate sees neither renames nor what a row must become.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from alembic import command

from storage.embedded import EmbeddedPostgres
from storage.migrate import alembic_config, migrate, migrations


def main() -> None:
    number = len(list((migrations() / "versions").glob("*.py"))) + 1
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg")
        server.start()
        try:
            url = server.url("postgres")
            asyncio.run(migrate(url))
            words = " ".join(sys.argv[1:])
            command.revision(alembic_config(url), words, autogenerate=True, rev_id=f"{number:04}")
        finally:
            server.stop()


if __name__ == "__main__":
    main()
