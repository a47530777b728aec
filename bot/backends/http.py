"""HTTP to a configured backend: one base address, no redirects, bounded in bytes and in time."""

import ssl
from collections.abc import Mapping
from typing import TypeVar

import httpx
from pydantic import BaseModel, Field, SecretStr, ValidationError

from engine.model.base import Frozen
from engine.model.evidence import Gap, GapCause
from engine.ports import Clock

TLS = "TLS: "
"""How the detail of a gap begins where no trust was found."""
_OK = 200
_REFUSALS = {
    401: GapCause.NOT_LET_IN,
    403: GapCause.NOT_LET_IN,
    407: GapCause.NOT_LET_IN,
    429: GapCause.TOO_OFTEN,
}
_Body = TypeVar("_Body", bound=BaseModel)


class BackendSettings(Frozen):
    """Where a backend is and how to get to it; nothing of it is read from the environment."""

    url: str
    proxy: str | None = None
    ca_file: str | None = None
    bearer: SecretStr | None = None
    basic_user: str | None = None
    basic_password: SecretStr | None = None
    tenant: str | None = None
    tenant_header: str = "X-Scope-OrgID"
    timeout_s: float = Field(4, gt=0)
    """Wall clock of one request, its body included; under a pack section's own limit."""
    max_bytes: int = Field(8_000_000, gt=0)

    @property
    def headers(self) -> Mapping[str, str]:
        """What every request carries."""
        headers = {"Accept": "application/json"}
        if self.bearer is not None:
            headers["Authorization"] = f"Bearer {self.bearer.get_secret_value()}"
        if self.tenant is not None:
            headers[self.tenant_header] = self.tenant
        return headers

    @property
    def basic(self) -> httpx.BasicAuth | None:
        """User and password, where they are set."""
        if self.basic_user is None or self.basic_password is None:
            return None
        return httpx.BasicAuth(self.basic_user, self.basic_password.get_secret_value())


class HttpReply(Frozen):
    """A reply that was read to its end."""

    status: int
    body: bytes

    def refusal(self, said: str = "") -> Gap:
        """Name a status that is no answer, with the backend's own words where there are some."""
        cause = _REFUSALS.get(self.status, GapCause.REFUSED)
        return Gap(cause=cause, detail=f"{self.status} {said[:200]}".strip())


def read(reply: HttpReply | Gap, shape: type[_Body], whose: str) -> _Body | Gap:
    """Read the JSON of an answer; whatever is none is a gap that says why.

    Args:
        reply: what came.
        shape: what the answer has to look like.
        whose: the backend with its article, for the gap.
    """
    if isinstance(reply, Gap):
        return reply
    if reply.status != _OK:
        return reply.refusal()
    try:
        return shape.model_validate_json(reply.body)
    except ValidationError:
        return Gap(cause=GapCause.GARBLED, detail=f"not the JSON of {whose}")


class _TooLargeError(Exception):
    """The body went past the limit."""


class BoundedHttp:
    """A client that answers with a reply or with the reason why there is none."""

    def __init__(
        self,
        settings: BackendSettings,
        clock: Clock,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.settings = settings
        self._clock = clock
        self._client = httpx.AsyncClient(
            base_url=settings.url.rstrip("/"),
            headers=dict(settings.headers),
            auth=settings.basic,
            proxy=settings.proxy,
            verify=ssl.create_default_context(cafile=settings.ca_file),
            timeout=settings.timeout_s,
            follow_redirects=False,
            trust_env=False,
            transport=transport,
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def get(self, path: str, params: Mapping[str, str] | None = None) -> HttpReply | Gap:
        """Read a path below the base address."""
        return await self._send(self._client.build_request("GET", path, params=params))

    async def post_form(self, path: str, form: Mapping[str, str]) -> HttpReply | Gap:
        """Post a form, for questions longer than an address may be."""
        return await self._send(self._client.build_request("POST", path, data=dict(form)))

    async def post_json(
        self, path: str, body: object, headers: Mapping[str, str] | None = None
    ) -> HttpReply | Gap:
        """Post a JSON body, with headers of this one request."""
        return await self._send(
            self._client.build_request("POST", path, json=body, headers=dict(headers or {}))
        )

    async def _send(self, request: httpx.Request) -> HttpReply | Gap:
        try:
            async with self._clock.timeout(self.settings.timeout_s):
                return await self._read(request)
        except (TimeoutError, httpx.TimeoutException):
            return Gap(cause=GapCause.TIMED_OUT, detail=f"{self.settings.timeout_s:g} s")
        except _TooLargeError:
            return Gap(cause=GapCause.TOO_LARGE, detail=f"over {self.settings.max_bytes} bytes")
        except httpx.DecodingError as error:
            return Gap(cause=GapCause.GARBLED, detail=type(error).__name__)
        except httpx.RequestError as error:
            return Gap(cause=GapCause.UNREACHABLE, detail=_fault(error))

    async def _read(self, request: httpx.Request) -> HttpReply:
        response = await self._client.send(request, stream=True)
        try:
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > self.settings.max_bytes:
                    raise _TooLargeError
            return HttpReply(status=response.status_code, body=bytes(body))
        finally:
            await response.aclose()


def _fault(error: BaseException) -> str:
    """Name what went wrong below HTTP: a certificate nobody trusts has a cure of its own."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"{TLS}{cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return f"{TLS}{(cause.reason or 'no handshake').replace('_', ' ').lower()}"
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__
