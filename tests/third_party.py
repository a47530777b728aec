"""Checkers that are not ours: Slack's published types under tsc, and Telegram's own parser.

They come from npm into a folder of their own, without a lock that would name where from.
"""

import ctypes
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

Json = dict[str, Any]
PACKAGES = (
    "@slack/types@3.2.0",
    "@slack/bolt@5.1.0",
    "typescript@7.0.2",
    "@prebuilt-tdlib/linux-x64-glibc@0.1008067.0",
)
FOLDER = Path(tempfile.gettempdir()) / "caveat-third-party"
NEEDED = ("node", "npm")


def installed() -> Path:
    """The folder they are in; installed when they are not."""
    if not (FOLDER / "node_modules" / ".bin" / "tsc").exists():
        FOLDER.mkdir(exist_ok=True)
        npm = shutil.which("npm") or "npm"
        quiet = ("--no-package-lock", "--no-audit", "--no-fund", "--silent")
        subprocess.run([npm, "install", *quiet, *PACKAGES], cwd=FOLDER, check=True, timeout=300)
    return FOLDER


def typed(name: str, type_: str, value: object) -> str:
    """A declaration that only compiles when the value has the shape of the type."""
    return f"export const {name}: {type_} = {json.dumps(value, ensure_ascii=True)};"


def tsc(imports: Mapping[str, Iterable[str]], declared: Iterable[str]) -> str:
    """What the compiler has against the declarations; empty when nothing."""
    folder = installed()
    lines = [f'import type {{ {", ".join(names)} }} from "{of}";' for of, names in imports.items()]
    source = folder / "check.ts"
    source.write_text("\n".join([*lines, *declared]), encoding="utf-8")
    strict = ("--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext")
    compiler = folder / "node_modules" / ".bin" / "tsc"
    done = subprocess.run(
        [compiler, *strict, source], capture_output=True, text=True, check=False, timeout=300
    )
    return done.stdout + done.stderr


@cache
def _library() -> ctypes.CDLL:
    place = installed() / "node_modules" / "@prebuilt-tdlib" / "linux-x64-glibc"
    library = ctypes.CDLL(str(next(place.glob("*tdjson*.so*"))))
    library.td_execute.restype = ctypes.c_char_p
    library.td_execute.argtypes = [ctypes.c_char_p]
    library.td_execute(b'{"@type": "setLogVerbosityLevel", "new_verbosity_level": 0}')
    return library


def parsed(html: str) -> Json:
    """What Telegram's servers read in a message: its text and entities, or their refusal."""
    asked = {
        "@type": "parseTextEntities",
        "text": html,
        "parse_mode": {"@type": "textParseModeHTML"},
    }
    return _asked(asked)


def lit_up(text: str) -> list[str]:
    """Types of what Telegram would make of a text by itself: links, mentions, commands."""
    said = _asked({"@type": "getTextEntities", "text": text})
    return [str(entity["type"]["@type"]) for entity in said["entities"]]


def _asked(question: Json) -> Json:
    said: Json = json.loads(_library().td_execute(json.dumps(question).encode()))
    return said
