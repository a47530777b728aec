"""Writes the first migration again from storage/tables.py, on a throw-away embedded database."""

import tempfile
from pathlib import Path

from alembic import command

from storage.embedded import EmbeddedPostgres
from storage.migrate import alembic_config, migrations


def main() -> None:
    versions = migrations() / "versions"
    versions.mkdir(exist_ok=True)
    for old in versions.glob("*.py"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg")
        server.start()
        try:
            config = alembic_config(server.url("postgres"))
            command.revision(config, "the first tables", autogenerate=True, rev_id="0001")
        finally:
            server.stop()


if __name__ == "__main__":
    main()
