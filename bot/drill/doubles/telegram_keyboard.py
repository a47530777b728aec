"""Which inline keyboards Telegram takes."""

from typing import Any

from bot.drill.doubles.arguments import nested
from bot.drill.doubles.telegram_html import has_one_label
from bot.drill.doubles.telegram_words import Json, bad_request, units

MAX_BUTTONS, MAX_PER_ROW = 100, 8
MAX_DATA_BYTES, MAX_COPIED = 64, 256
STYLES = {"primary", "success", "danger"}
DOES = {"callback_data", "url", "copy_text", "switch_inline_query", "web_app", "login_url"}
"""What a button can do; one that does nothing is refused."""


def markup_of(given: Json) -> Json | None:
    """Read the reply markup and refuse what Telegram refuses."""
    markup = nested(given.get("reply_markup") or "null")
    if markup is None:
        return None
    rows = [row for row in markup.get("inline_keyboard", []) if row]
    if sum(map(len, rows)) > MAX_BUTTONS or any(len(row) > MAX_PER_ROW for row in rows):
        raise bad_request("REPLY_MARKUP_TOO_LONG")
    for button in (button for row in rows for button in row):
        _check_button(button)
    if "inline_keyboard" in markup:
        return {"inline_keyboard": rows} if rows else None
    return dict(markup)


def _check_button(button: dict[str, Any]) -> None:
    cannot = "can't parse inline keyboard button: "
    if not str(button.get("text") or "").strip():
        raise bad_request(cannot + "Text must be non-empty")
    if not DOES & button.keys():
        raise bad_request(cannot + "Text buttons are unallowed in the inline keyboard")
    if "callback_data" in button:
        size = len(str(button["callback_data"]).encode("utf-8", "surrogatepass"))
        if not 1 <= size <= MAX_DATA_BYTES:
            raise bad_request("BUTTON_DATA_INVALID")
    if "url" in button and not _is_reachable(str(button["url"])):
        raise bad_request("BUTTON_URL_INVALID")
    if "copy_text" in button and not 1 <= units(str(button["copy_text"]["text"])) <= MAX_COPIED:
        raise bad_request("BUTTON_COPY_TEXT_INVALID")
    if button.get("style", "primary") not in STYLES:
        raise bad_request(cannot + "invalid button style specified")


def _is_reachable(url: str) -> bool:
    scheme, separator, _ = url.partition("://")
    known = not separator or scheme in {"http", "https", "tg", "ton"}
    return bool(url) and known and not has_one_label(url)
