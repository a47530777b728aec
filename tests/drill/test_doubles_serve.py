"""Serving doubles: ports, cut connections, leaving."""

import asyncio
import signal
import time

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.drill.doubles import arguments
from bot.drill.doubles.faults import Fault, Hang, ReplyLost, suffer
from bot.drill.doubles.serve import serve


def app(fault: Fault | None, done: list[str]) -> Starlette:
    async def act(request: Request) -> Response:
        given = await arguments.read(request)

        async def accept() -> Response:
            done.append("done")
            files = {name: [f.filename, f.content.hex()] for name, f in given.files.items()}
            return JSONResponse({"values": given.values, "files": files})

        return await suffer(fault, accept)

    return Starlette(routes=[Route("/act", act, methods=["GET", "POST"])])


async def test_two_doubles_live_side_by_side_and_leave_the_signals_alone() -> None:
    before = signal.getsignal(signal.SIGTERM)
    async with serve(app(None, [])) as one, serve(app(None, [])) as two:
        assert one != two
        assert one.startswith("http://127.0.0.1:")
        assert signal.getsignal(signal.SIGTERM) is before
        async with httpx.AsyncClient(verify=False) as client:
            assert (await client.get(f"{two}/act?a=1")).json()["values"] == {"a": "1"}
    async with httpx.AsyncClient(verify=False) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(one)


@pytest.mark.parametrize(("accepted", "effects"), [(True, ["done"]), (False, [])])
async def test_a_lost_reply_says_nothing_at_all(accepted: bool, effects: list[str]) -> None:
    done: list[str] = []
    async with (
        serve(app(ReplyLost(accepted=accepted), done)) as url,
        httpx.AsyncClient(verify=False) as client,
    ):
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            await client.get(f"{url}/act")
    assert done == effects


async def test_leaving_drops_what_hangs_at_once_and_silently(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with httpx.AsyncClient(verify=False) as client:
        async with serve(app(Hang(), [])) as url:
            waiting = asyncio.create_task(client.get(f"{url}/act"))
            await asyncio.sleep(0.1)
            began = time.monotonic()
        assert time.monotonic() - began < 2
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            await waiting
    assert [r for r in caplog.records if r.levelname in {"ERROR", "CRITICAL"}] == []


async def test_arguments_are_read_from_every_encoding() -> None:
    picture = b"\x00\r\n--x\r\n\xff"
    async with serve(app(None, [])) as url, httpx.AsyncClient(verify=False) as client:
        sent = [
            await client.post(f"{url}/act", json={"a": 1, "b": [2]}),
            await client.post(f"{url}/act?c=3", data={"a": "ä & b", "b": ""}),
            await client.post(f"{url}/act", data={"a": "é"}, files={"f": ("p.png", picture)}),
        ]
    assert [reply.json() for reply in sent] == [
        {"values": {"a": 1, "b": [2]}, "files": {}},
        {"values": {"c": "3", "a": "ä & b", "b": ""}, "files": {}},
        {"values": {"a": "é"}, "files": {"f": ["p.png", picture.hex()]}},
    ]
