"""People, their accounts, their roles and the codes that tie them, on a real database."""

import asyncio

import pytest
from sqlalchemy import text

from engine.model.org import Identity, Person, Platform, Role
from storage.people import PeopleError
from storage.store import SqlStore, SqlTx

SLACK = Identity(platform=Platform.SLACK, account="U1")
TELEGRAM = Identity(platform=Platform.TELEGRAM, account="42")
CODE = "ABCDEF-234567"


async def with_code(tx: SqlTx, name: str = "ada", ttl_s: float = 900) -> Person:
    person = await tx.people.add(name, by="cli")
    await tx.people.keep_code(person, CODE, by="cli", ttl_s=ttl_s)
    return person


async def actions(tx: SqlTx) -> list[str]:
    rows = await tx.session.execute(text("select action from audit order by id"))
    return list(rows.scalars())


async def test_a_code_ties_an_account_to_its_person_once(store: SqlStore) -> None:
    async with store.begin() as tx:
        person = await with_code(tx)
    async with store.begin() as tx:
        linked = await tx.people.redeem(CODE, SLACK)
        again = await tx.people.redeem(CODE, TELEGRAM)
        known = await tx.people.by_identity(SLACK)
        assert linked is not None
        assert (linked.id, linked.identities, again) == (person.id, (SLACK,), None)
        assert known == linked
        assert await tx.people.by_identity(TELEGRAM) is None
        assert await actions(tx) == ["person added", "link code made", "account linked"]


async def test_a_code_may_be_typed_in_any_case_and_without_its_dash(store: SqlStore) -> None:
    async with store.begin() as tx:
        await with_code(tx)
        assert await tx.people.redeem(" abcdef 234567", SLACK) is not None


async def test_a_code_ends_by_the_databases_own_time(store: SqlStore) -> None:
    async with store.begin() as tx:
        await with_code(tx, ttl_s=0.05)
    await asyncio.sleep(0.1)
    async with store.begin() as tx:
        assert await tx.people.redeem(CODE, SLACK) is None


async def test_of_two_that_send_one_code_at_once_one_is_linked(store: SqlStore) -> None:
    async with store.begin() as tx:
        await with_code(tx)

    async def send(identity: Identity) -> bool:
        async with store.begin() as tx:
            return await tx.people.redeem(CODE, identity) is not None

    assert sorted(await asyncio.gather(send(SLACK), send(TELEGRAM))) == [False, True]


async def test_the_code_itself_is_nowhere_in_the_database(store: SqlStore) -> None:
    async with store.begin() as tx:
        await with_code(tx)
        kept = await tx.session.execute(
            text("select (select string_agg(l::text, '') from link_codes l) ||"
                 " (select string_agg(a::text, '') from audit a)")
        )  # fmt: skip
        said = kept.scalar_one()
    assert CODE not in said
    assert CODE.replace("-", "") not in said


async def test_a_deactivated_person_redeems_nothing_and_is_seen_as_inactive(
    store: SqlStore,
) -> None:
    async with store.begin() as tx:
        person = await with_code(tx)
        await tx.people.redeem(CODE, SLACK)
        await tx.people.keep_code(person, "OTHER-CODE22", by="cli")
        await tx.people.deactivate(person, by="cli")
        assert await tx.people.redeem("OTHER-CODE22", TELEGRAM) is None
        known = await tx.people.by_identity(SLACK)
        assert known is not None
        assert known.active is False


async def test_an_account_that_sends_anothers_code_moves(store: SqlStore) -> None:
    async with store.begin() as tx:
        await with_code(tx, "ada")
        await tx.people.redeem(CODE, SLACK)
        bob = await tx.people.add("bob", by="cli")
        await tx.people.keep_code(bob, "BOBS-CODE", by="cli")
        await tx.people.redeem("BOBS-CODE", SLACK)
        ada = await tx.people.named("ada")
        owner = await tx.people.by_identity(SLACK)
        assert ada is not None
        assert owner is not None
        assert (ada.identities, owner.name) == ((), "bob")


async def test_roles_are_held_by_client_and_taken_back(store: SqlStore) -> None:
    async with store.begin() as tx:
        await tx.org.declare_client("shop", {})
        person = await tx.people.add("ada", by="cli")
        for _ in range(2):
            await tx.people.grant(person, "shop", Role.RUNBOOKS_EXECUTE, by="cli")
        await tx.people.grant(person, "*", Role.ADMIN, by="cli")
        (held,) = await tx.people.every()
        assert held.roles == {"shop": (Role.RUNBOOKS_EXECUTE,), "*": (Role.ADMIN,)}
        await tx.people.revoke(person, "shop", Role.RUNBOOKS_EXECUTE, by="cli")
        with pytest.raises(PeopleError, match="does not hold"):
            await tx.people.revoke(person, "shop", Role.RUNBOOKS_EXECUTE, by="cli")
        (left,) = await tx.people.every()
        assert left.roles == {"*": (Role.ADMIN,)}
        said = await actions(tx)
        assert said == ["person added", "role granted", "role granted", "role revoked"]


async def test_a_role_needs_a_client_and_a_person_a_name_of_their_own(store: SqlStore) -> None:
    async with store.begin() as tx:
        person = await tx.people.add("ada", by="cli")
        with pytest.raises(PeopleError, match="no client"):
            await tx.people.grant(person, "nowhere", Role.ADMIN, by="cli")
        with pytest.raises(PeopleError, match="already"):
            await tx.people.add("ada", by="cli")
        with pytest.raises(PeopleError, match="needs a name"):
            await tx.people.add("  ", by="cli")


async def test_a_change_that_is_rolled_back_leaves_no_audit_row(store: SqlStore) -> None:
    async def fail_after_adding() -> None:
        async with store.begin() as tx:
            await tx.people.add("ada", by="cli")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail_after_adding()
    async with store.begin() as tx:
        assert await tx.people.every() == []
        assert await actions(tx) == []
