"""What the rehearsal workspace calls itself and its one app."""

from typing import Any

Json = dict[str, Any]

BOT_USER, BOT_ID, TEAM, APP = "U0CAVEAT", "B0CAVEAT", "T0REHEARSAL", "A0CAVEAT"
TEAM_DOMAIN = "rehearsal"
