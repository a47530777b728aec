"""Who an account is in a channel, asked of Slack at the moment it matters."""

import asyncio
import logging
from functools import partial
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chats.slack.errors import asked
from engine.model.base import Frozen
from engine.model.desk import Membership
from engine.ports import Clock

log = logging.getLogger(__name__)

LIVES_S = 3.0
"""How long an answer of Slack's is taken for now."""
LONGEST_S = 2.5
"""Longest wait for Slack; who cannot be looked up by then is outside."""
PAGE = 1000
MOST_PAGES = 20
_KEPT = 1000
_SLACKBOT = "USLACKBOT"


class Standing(Frozen):
    """What an account is in one channel."""

    membership: Membership
    name: str = ""
    timezone: str | None = None
    administers: bool = False


NOBODY = Standing(membership=Membership.OUTSIDE)


class Directory:
    """Looks accounts up; what Slack does not say is no membership."""

    def __init__(self, client: AsyncWebClient, clock: Clock) -> None:
        """Ask with `client`."""
        self._client = client
        self._clock = clock
        self._team: str | None = None
        self._known: dict[tuple[str, str], tuple[float, Standing]] = {}

    async def look_up(self, account: str, channel: str) -> Standing:
        """Say what an account is in a channel; in a direct message only what it is at all."""
        now_s = self._clock.monotonic()
        kept_at_s, standing = self._known.get((account, channel), (-LIVES_S, NOBODY))
        if now_s - kept_at_s < LIVES_S:
            return standing
        try:
            async with self._clock.timeout(LONGEST_S):
                standing = await self._ask(account, channel)
        except TimeoutError:
            log.warning("Slack did not say in %s s who %s is", LONGEST_S, account)
            return NOBODY
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[account, channel] = (now_s, standing)
        return standing

    async def in_charge(self, account: str, channel: str) -> bool:
        """Whether an account runs a channel: it made it, or it runs the workspace."""
        standing = await self.look_up(account, channel)
        if standing.administers:
            return True
        said = await asked(lambda: self._client.conversations_info(channel=channel))
        return isinstance(said, AsyncSlackResponse) and said["channel"].get("creator") == account

    async def _ask(self, account: str, channel: str) -> Standing:
        in_private = channel.startswith("D")
        who, is_in, team = await asyncio.gather(
            asked(lambda: self._client.users_info(user=account)),
            _true() if in_private else self._is_in(account, channel),
            self._own_team(),
        )
        if not isinstance(who, AsyncSlackResponse) or team is None:
            log.warning("Slack did not say who %s is: %s", account, who)
            return NOBODY
        user: dict[str, Any] = who["user"]
        return Standing(
            membership=membership(user, is_in=is_in, team=team),
            name=_name(user),
            timezone=user.get("tz"),
            administers=any(user.get(one) for one in ("is_admin", "is_owner")),
        )

    async def _is_in(self, account: str, channel: str) -> bool:
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            call = partial(self._client.conversations_members, channel=channel, limit=PAGE)
            said = await asked(partial(call, cursor=cursor))
            if not isinstance(said, AsyncSlackResponse):
                log.warning("Slack did not say who is in %s: %s", channel, said)
                return False
            if account in said["members"]:
                return True
            cursor = (said.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return False
        return False

    async def _own_team(self) -> str | None:
        if self._team is None:
            said = await asked(self._client.auth_test)
            if isinstance(said, AsyncSlackResponse):
                self._team = str(said["team_id"])
        return self._team


def membership(user: dict[str, Any], *, is_in: bool, team: str) -> Membership:
    """What an account is, from what Slack says of it.

    People of another workspace that shares the channel are guests here: nobody of ours vouches
    for them.
    """
    if user.get("is_bot") or user.get("is_workflow_bot") or user.get("id") == _SLACKBOT:
        return Membership.BOT
    if user.get("deleted") or not is_in:
        return Membership.OUTSIDE
    teams = {user.get("team_id"), *((user.get("enterprise_user") or {}).get("teams") or ())}
    limited = ("is_restricted", "is_ultra_restricted", "is_stranger")
    if team not in teams or any(user.get(one) for one in limited):
        return Membership.GUEST
    return Membership.FULL


def _name(user: dict[str, Any]) -> str:
    profile = user.get("profile") or {}
    said = (profile.get("display_name"), profile.get("real_name"), user.get("name"))
    return str(next((name for name in said if name), ""))


async def _true() -> bool:
    return True
