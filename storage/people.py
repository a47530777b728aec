"""Who may speak: people, their accounts in chats, their roles, and the codes that tie them."""

from collections.abc import Iterable, Mapping

from sqlalchemy import delete, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.base import digest
from engine.model.org import Identity, Person, Platform, Role
from storage.audit import AuditRows
from storage.rooms import CODE_TTL_S, code_hash
from storage.tables import ClientRow, GrantRow, IdentityRow, PersonRow

EVERYWHERE = "*"
"""In place of a client: the role holds in every one."""

_ADD_CODE = text("""
    insert into link_codes (code_hash, person_id, expires_at)
    values (:code_hash, :person_id, clock_timestamp() + make_interval(secs => :ttl_s))
""")
_FORGET_CODES = text("""
    delete from link_codes where expires_at < clock_timestamp() - make_interval(days => 1)
""")
_USE_CODE = text("""
    update link_codes set used_at = clock_timestamp() from people
    where code_hash = :code_hash and used_at is null and expires_at > clock_timestamp()
        and people.id = link_codes.person_id and people.active
    returning people.id
""")


class PeopleError(Exception):
    """A change to people that makes no sense; the text says why."""


class PeopleRows:
    """People; every change leaves its audit row in the same transaction."""

    def __init__(self, session: AsyncSession, audit: AuditRows) -> None:
        """Speak through an open session."""
        self._session = session
        self._audit = audit

    async def add(self, name: str, *, by: str) -> Person:
        """Make a person of this name.

        Raises:
            PeopleError: the name is empty or taken.
        """
        name = " ".join(name.split())
        if not name:
            raise PeopleError("a person needs a name")
        made = (
            insert(PersonRow)
            .values(id=digest(f"person {name}", 32), name=name)
            .on_conflict_do_nothing()
            .returning(PersonRow.id)
        )
        person_id = (await self._session.execute(made)).scalar_one_or_none()
        if person_id is None:
            raise PeopleError(f"there is a person named {name!r} already")
        await self._say(by, "person added", person_id, name=name)
        return Person(id=person_id, name=name)

    async def every(self) -> list[Person]:
        """Everybody, by name; those deactivated too."""
        rows = await self._session.execute(select(PersonRow.id).order_by(PersonRow.name))
        return [await self._whole(person_id) for person_id in rows.scalars().all()]

    async def named(self, name: str) -> Person | None:
        """The person of this name."""
        found = await self._session.execute(select(PersonRow.id).where(PersonRow.name == name))
        person_id = found.scalar_one_or_none()
        return None if person_id is None else await self._whole(person_id)

    async def by_identity(self, identity: Identity) -> Person | None:
        """Whose account it is; read afresh, as authority is checked at the moment of a press."""
        found = await self._session.execute(
            select(IdentityRow.person_id).where(
                IdentityRow.platform == identity.platform.value,
                IdentityRow.account == identity.account,
            )
        )
        person_id = found.scalar_one_or_none()
        return None if person_id is None else await self._whole(person_id)

    async def holders(self, role: Role, client_id: str) -> list[str]:
        """Names of active people who hold a role in a client, or in every one."""
        asked = (
            select(PersonRow.name)
            .join(GrantRow, GrantRow.person_id == PersonRow.id)
            .where(PersonRow.active, GrantRow.role == role.value)
            .where(GrantRow.client_id.in_((client_id, EVERYWHERE)))
        )
        return list(
            (await self._session.execute(asked.distinct().order_by(PersonRow.name))).scalars()
        )

    async def place(self, person: Person, timezone: str) -> None:
        """Remember where somebody is, as their chat tells it."""
        await self._session.execute(
            update(PersonRow).where(PersonRow.id == person.id).values(timezone=timezone)
        )

    async def keep_code(
        self, person: Person, code: str, *, by: str, ttl_s: float = CODE_TTL_S
    ) -> None:
        """Keep a fresh code of a person; it can be used once, until `ttl_s` from now."""
        await self._session.execute(_FORGET_CODES)
        values = {"code_hash": code_hash(code), "person_id": person.id, "ttl_s": ttl_s}
        await self._session.execute(_ADD_CODE, values)
        await self._say(by, "link code made", person.id)

    async def redeem(self, code: str, identity: Identity) -> Person | None:
        """Tie the account that sent a code to the code's person, and use the code up.

        An account that was somebody else's moves: who sends a code holds the account. None when
        the code is unknown, used or out of time, or its person is deactivated.
        """
        used = await self._session.execute(_USE_CODE, {"code_hash": code_hash(code)})
        person_id = used.scalar_one_or_none()
        if person_id is None:
            return None
        key = {"platform": identity.platform.value, "account": identity.account}
        tied = insert(IdentityRow).values(**key, person_id=person_id)
        await self._session.execute(
            tied.on_conflict_do_update(
                index_elements=[IdentityRow.platform, IdentityRow.account],
                set_={"person_id": person_id, "linked_at": text("clock_timestamp()")},
            )
        )
        await self._say(f"{identity.platform}:{identity.account}", "account linked", person_id)
        return await self._whole(person_id)

    async def grant(self, person: Person, client_id: str, role: Role, *, by: str) -> None:
        """Give a role in a client, or in every one (`*`); once is as good as twice.

        Raises:
            PeopleError: there is no such client.
        """
        if client_id != EVERYWHERE and await self._session.get(ClientRow, client_id) is None:
            raise PeopleError(f"no client named {client_id!r}")
        given = insert(GrantRow).values(person_id=person.id, client_id=client_id, role=role.value)
        added = given.on_conflict_do_nothing().returning(GrantRow.role)
        if (await self._session.execute(added)).scalar_one_or_none() is not None:
            await self._say(by, "role granted", person.id, role=role.value, client=client_id)

    async def revoke(self, person: Person, client_id: str, role: Role, *, by: str) -> None:
        """Take a role back.

        Raises:
            PeopleError: the person does not hold it there.
        """
        gone = (
            delete(GrantRow)
            .where(
                GrantRow.person_id == person.id,
                GrantRow.client_id == client_id,
                GrantRow.role == role.value,
            )
            .returning(GrantRow.role)
        )
        if (await self._session.execute(gone)).scalar_one_or_none() is None:
            raise PeopleError(f"{person.name} does not hold {role.value} in {client_id}")
        await self._say(by, "role revoked", person.id, role=role.value, client=client_id)

    async def deactivate(self, person: Person, *, by: str) -> None:
        """Let a person do nothing any more, codes not redeemed yet included."""
        await self._session.execute(
            update(PersonRow).where(PersonRow.id == person.id).values(active=False)
        )
        await self._say(by, "person deactivated", person.id)

    async def _say(self, by: str, action: str, person_id: str, **facts: str) -> None:
        client_id = facts.get("client")
        scope = None if client_id == EVERYWHERE else client_id
        await self._audit.append(scope, by, action, {"person": person_id, **facts})

    async def _whole(self, person_id: str) -> Person:
        row = await self._session.get(PersonRow, person_id, populate_existing=True)
        assert row is not None, "people are never deleted"
        accounts = (
            select(IdentityRow.platform, IdentityRow.account, IdentityRow.linked_at)
            .where(IdentityRow.person_id == person_id)
            .order_by(IdentityRow.linked_at)
        )
        linked = (await self._session.execute(accounts)).all()
        grants = select(GrantRow.client_id, GrantRow.role).where(GrantRow.person_id == person_id)
        held = (await self._session.execute(grants.order_by(GrantRow.role))).all()
        return Person(
            id=row.id,
            name=row.name,
            identities=tuple(
                Identity(platform=Platform(one.platform), account=one.account) for one in linked
            ),
            roles=_roles((one.client_id, one.role) for one in held),
            active=row.active,
            timezone=row.timezone,
            linked_at=linked[0].linked_at if linked else None,
        )


def _roles(held: Iterable[tuple[str, str]]) -> Mapping[str, tuple[Role, ...]]:
    roles: dict[str, tuple[Role, ...]] = {}
    for client_id, role in held:
        roles[client_id] = (*roles.get(client_id, ()), Role(role))
    return roles
