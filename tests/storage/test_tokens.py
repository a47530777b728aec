"""Tokens of the API on a real database."""

from typing import Any

import pytest
from sqlalchemy import text

from engine.model.token import ApiToken, Scope, TokenKind
from storage.store import SqlStore, SqlTx
from storage.tokens import TokenError

SECRET = "s3cret-of-a-dashboard-0123456789"


async def made(tx: SqlTx, secret: str = SECRET, **changes: Any) -> ApiToken:
    usual: dict[str, Any] = {
        "name": "dashboard",
        "kind": TokenKind.SERVICE,
        "scopes": [Scope.READ],
        "client_id": None,
        "days": 30,
        "by": "cli:ops",
    }
    return await tx.tokens.add(secret, **{**usual, **changes})


async def audited(tx: SqlTx) -> list[Any]:
    rows = await tx.session.execute(
        text("select client_id, actor, action, facts ->> 'name' from audit order by id")
    )
    return [tuple(row) for row in rows]


async def test_a_token_is_found_by_its_secret_until_it_is_taken_back(store: SqlStore) -> None:
    async with store.begin() as tx:
        await tx.org.declare_client("acme", {})
        token = await made(tx, scopes=[Scope.WRITE, Scope.READ, Scope.READ], client_id="acme")
    async with store.begin() as tx:
        assert await tx.tokens.live(SECRET) == token
        assert (token.scopes, token.client_id) == ((Scope.READ, Scope.WRITE), "acme")
        assert (token.expires_at - token.made_at).days in {29, 30}
        assert await tx.tokens.live(SECRET + "x") is None
        await tx.tokens.revoke("dashboard", by="cli:ops")
        assert await tx.tokens.live(SECRET) is None
        assert await audited(tx) == [
            ("acme", "cli:ops", "api token made", "dashboard"),
            ("acme", "cli:ops", "api token revoked", "dashboard"),
        ]


async def test_a_token_ends_by_the_databases_own_time(store: SqlStore) -> None:
    async with store.begin() as tx:
        await made(tx)
        moved = "update api_tokens set expires_at = clock_timestamp() - interval '1 second'"
        await tx.session.execute(text(moved))
        assert await tx.tokens.live(SECRET) is None


async def test_the_secret_itself_is_nowhere_in_the_database(store: SqlStore) -> None:
    async with store.begin() as tx:
        await made(tx)
        kept = await tx.session.execute(
            text("select (select string_agg(t::text, '') from api_tokens t) ||"
                 " (select string_agg(a::text, '') from audit a)")
        )  # fmt: skip
        assert SECRET not in kept.scalar_one()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "  "}, "needs a name"),
        ({"scopes": []}, "needs a scope"),
        ({"client_id": "nowhere"}, "no client"),
        ({"days": 0}, "1 to 366 days"),
        ({"days": 367}, "1 to 366 days"),
        ({"scopes": [Scope.READ, Scope.RUNBOOKS_EXECUTE]}, "kind human only"),
    ],
)
async def test_a_token_that_makes_no_sense_is_refused_and_leaves_nothing(
    store: SqlStore, changes: dict[str, Any], said: str
) -> None:
    async with store.begin() as tx:
        with pytest.raises(TokenError, match=said):
            await made(tx, **changes)
        assert await tx.tokens.every() == []
        assert await audited(tx) == []


async def test_a_person_may_hold_what_a_machine_may_not(store: SqlStore) -> None:
    async with store.begin() as tx:
        token = await made(tx, kind=TokenKind.HUMAN, scopes=[Scope.RUNBOOKS_EXECUTE])
    assert token.scopes == (Scope.RUNBOOKS_EXECUTE,)


async def test_a_name_is_one_live_token_and_is_free_again_once_taken_back(
    store: SqlStore,
) -> None:
    async with store.begin() as tx:
        await made(tx)
        with pytest.raises(TokenError, match="already"):
            await made(tx, "another-secret")
        await tx.tokens.revoke("dashboard", by="cli")
        await made(tx, "another-secret")
        newest, oldest = await tx.tokens.every()
        assert (newest.revoked_at, oldest.revoked_at is None) == (None, False)
        assert await tx.tokens.live(SECRET) is None
        with pytest.raises(TokenError, match="no token named"):
            await tx.tokens.revoke("nobody", by="cli")


async def test_a_token_that_is_rolled_back_leaves_no_audit_row(store: SqlStore) -> None:
    async def fail_after_adding() -> None:
        async with store.begin() as tx:
            await made(tx)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail_after_adding()
    async with store.begin() as tx:
        assert (await tx.tokens.every(), await audited(tx)) == ([], [])
