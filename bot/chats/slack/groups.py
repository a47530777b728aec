"""Which user groups stand for roles, and who is in them; read beside the presses."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import partial

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chats.slack.errors import asked
from engine.model.org import Role
from engine.ports import Clock

log = logging.getLogger(__name__)

EVERY_S = 300.0
STALE_S = 900.0
"""What could not be read anew for so long counts for nobody."""


class Usergroups:
    """Who is in the groups that stand for roles; a press only ever looks at what is known."""

    def __init__(
        self, client: AsyncWebClient, clock: Clock, roles: Mapping[str, Sequence[Role]]
    ) -> None:
        """Know nobody yet; `roles` are by group id."""
        self._client = client
        self._clock = clock
        self._roles = roles
        self._known: dict[str, tuple[float, frozenset[str]]] = {}

    def roles_of(self, account: str) -> tuple[Role, ...]:
        """Roles of an account by the groups it is in, as far as they are known."""
        now_s = self._clock.monotonic()
        held = [
            role
            for group, (read_at_s, accounts) in self._known.items()
            if account in accounts and now_s - read_at_s < STALE_S
            for role in self._roles[group]
        ]
        return tuple(dict.fromkeys(held))

    async def keep_fresh(self) -> None:
        """Read every group over and over, until cancelled."""
        while self._roles:
            await self.read()
            await self._clock.sleep(EVERY_S)

    async def read(self) -> None:
        """Read every group once; one that cannot be read stays as it was known."""
        said = await asyncio.gather(*(self._ask(group) for group in self._roles))
        now_s = self._clock.monotonic()
        for group, answer in zip(self._roles, said, strict=True):
            if isinstance(answer, AsyncSlackResponse):
                self._known[group] = (now_s, frozenset(answer["users"]))
            else:
                log.warning("Slack did not say who is in user group %s: %s", group, answer)

    async def _ask(self, group: str) -> object:
        call = partial(self._client.usergroups_users_list, usergroup=group)
        return await asked(call)
