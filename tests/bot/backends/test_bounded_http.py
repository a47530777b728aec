import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
from pydantic import SecretStr

from bot.backends.clock import SystemClock
from bot.backends.http import BackendSettings, BoundedHttp, HttpReply
from engine.model.evidence import Gap, GapCause

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def server(answer: Answer) -> AsyncIterator[str]:
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"


async def ask(url: str, **settings: object) -> HttpReply | Gap:
    http = BoundedHttp(BackendSettings(url=url, **settings), SystemClock())
    try:
        return await http.get("/api/v1/query")
    finally:
        await http.close()


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


async def dripping(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    try:
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)
    except ConnectionError:
        writer.close()


@pytest.mark.parametrize("backend", [silent, dripping])
async def test_a_backend_that_hangs_or_drips_is_given_up_on_in_time(backend: Answer) -> None:
    async with server(backend) as url:
        began = asyncio.get_running_loop().time()
        reply = await ask(url, timeout_s=0.3)
        assert asyncio.get_running_loop().time() - began < 4  # it drips for ever
    assert reply == Gap(cause=GapCause.TIMED_OUT, detail="0.3 s")


async def test_a_body_past_the_limit_is_not_read_to_its_end() -> None:
    async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                writer.write(b"x" * 10_000)
                await writer.drain()
        except ConnectionError:
            writer.close()

    async with server(endless) as url:
        reply = await ask(url, max_bytes=50_000)
    assert isinstance(reply, Gap)
    assert reply.cause is GapCause.TOO_LARGE


async def test_nobody_there_is_unreachable() -> None:
    reply = await ask("http://127.0.0.1:9")
    assert isinstance(reply, Gap)
    assert reply.cause is GapCause.UNREACHABLE


async def test_a_redirect_is_not_followed() -> None:
    asked: list[httpx.Request] = []

    def elsewhere(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(302, headers={"location": "http://127.0.0.1:1/"})

    settings = BackendSettings(url="http://prometheus.test/base/")
    http = BoundedHttp(settings, SystemClock(), httpx.MockTransport(elsewhere))
    reply = await http.get("/api/v1/rules", {"type": "alert"})
    assert isinstance(reply, HttpReply)
    assert reply.status == 302
    assert [str(r.url) for r in asked] == ["http://prometheus.test/base/api/v1/rules?type=alert"]


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    await writer.drain()
    writer.close()


async def test_a_proxy_comes_from_the_settings_and_never_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with server(answering) as url:
        assert await ask(url) == HttpReply(status=200, body=b"ok")
        through = await ask(url, proxy="http://127.0.0.1:9")
    assert isinstance(through, Gap)


@pytest.mark.parametrize(
    ("settings", "header", "value"),
    [
        ({"bearer": SecretStr("tok")}, "authorization", "Bearer tok"),
        (
            {"basic_user": "u", "basic_password": SecretStr("p")},
            "authorization",
            "Basic dTpw",
        ),
        ({"tenant": "team-a"}, "x-scope-orgid", "team-a"),
    ],
)
async def test_a_request_carries_what_the_settings_say(
    settings: dict[str, object], header: str, value: str
) -> None:
    seen: list[str | None] = []

    def look(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get(header))
        return httpx.Response(200)

    http = BoundedHttp(
        BackendSettings(url="http://prometheus.test", **settings),
        SystemClock(),
        httpx.MockTransport(look),
    )
    await http.get("/")
    assert seen == [value]


async def test_a_certificate_nobody_trusts_is_told_apart_from_silence() -> None:
    def distrust(request: httpx.Request) -> httpx.Response:
        error = ssl.SSLCertVerificationError("x")
        error.verify_message = "self-signed certificate"
        raise httpx.ConnectError("x", request=request) from error

    http = BoundedHttp(
        BackendSettings(url="https://b.test"), SystemClock(), httpx.MockTransport(distrust)
    )
    gap = await http.get("/")
    assert gap == Gap(cause=GapCause.UNREACHABLE, detail="TLS: self-signed certificate")
