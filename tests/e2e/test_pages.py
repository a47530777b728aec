"""Pages of the whole product: with and without models, and from trigger to resolve."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from bot.compose import fresh_id
from bot.drill.doubles.anthropic_replies import overloaded
from bot.drill.doubles.pagerduty import PagerDutyDouble
from bot.drill.doubles.serve import serve
from engine.desk.desk import Desk
from engine.model.action import Action
from engine.model.desk import Actor, Membership, Press
from engine.model.org import Identity, Platform
from storage.embedded import EmbeddedPostgres
from tests.e2e.moved import CURTAIN
from tests.e2e.theatre import NEVER, SLACK_ROOM, Theatre, open_theatre
