"""Keys of the API: what they open, for whom and until when."""

from enum import StrEnum

from pydantic import AwareDatetime, Field

from engine.model.base import Frozen


class TokenKind(StrEnum):
    """Who speaks with a token."""

    HUMAN = "human"
    SERVICE = "service"


class Scope(StrEnum):
    """What a token opens; none stands for another."""

    ALERTS_WRITE = "alerts:write"
    READ = "read"
    WRITE = "write"
    RUNBOOKS_EXECUTE = "runbooks:execute"
    RESOLUTIONS_APPROVE = "resolutions:approve"
    RECHECK_READ = "recheck:read"
    RECHECK_WRITE = "recheck:write"
    MCP_READ = "mcp:read"
    MCP_WRITE = "mcp:write"
    ADMIN = "admin"


HUMAN_ONLY = frozenset({Scope.RUNBOOKS_EXECUTE})
"""A machine never starts a change by itself."""


class ApiToken(Frozen):
    """A token as it is kept; its secret was shown once."""

    id: str
    name: str
    kind: TokenKind
    scopes: tuple[Scope, ...]
    client_id: str | None = Field(description="None opens every client.")
    made_at: AwareDatetime
    expires_at: AwareDatetime
    revoked_at: AwareDatetime | None = None
