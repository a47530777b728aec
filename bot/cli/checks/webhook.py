"""The webhook: who has to reach which address, and the receiver to paste."""

from ipaddress import ip_address

from bot.cli.checks.line import Line, absent, ok
from bot.config import ClientSettings, Settings

PART = "webhook"


def webhook(settings: Settings, own: ClientSettings) -> Line:
    """Whether senders could come in; nothing is sent."""
    address = address_of(settings)
    if own.webhook_token is None:
        return absent(
            PART,
            "no token",
            "set CAVEAT_WEBHOOK_TOKEN in .env, or run `caveat client token`",
            "up to 15 s later than by webhook" if own.alertmanager else "no alerts at all",
        )
    if _loopback(settings.http.host) and settings.http.public_url is None:
        said = f"{address}/webhooks/alertmanager is for this machine only"
        cure = "set http.host, or http.public_url where a proxy stands before it"
        return absent(PART, said, cure, "senders elsewhere cannot come in; polling still works")
    return ok(PART, f"Alertmanager must reach {address}/webhooks/alertmanager")


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address_of(settings: Settings) -> str:
    """Where senders find us."""
    http = settings.http
    return (http.public_url or f"http://{http.host}:{http.port}").rstrip("/")


def receiver(settings: Settings) -> str:
    """What to paste into Alertmanager's configuration; the token stays where it is."""
    return f"""\
route:
  routes:
    - receiver: caveat
      continue: true            # everybody else still gets the alert
receivers:
  - name: caveat
    webhook_configs:
      - url: {address_of(settings)}/webhooks/alertmanager
        send_resolved: true
        http_config:
          authorization: {{type: Bearer, credentials: "********"}}   # CAVEAT_WEBHOOK_TOKEN
"""
