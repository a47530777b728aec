"""Which findings are worth a second look."""

from typing import Any

import pytest

from engine.model.finding import Disposition
from engine.model.incident import IncidentState
from engine.model.org import DRILL_CLIENT
from engine.model.policy import RecheckRule
from engine.recheck import RecheckSkip, recheck_skip
from tests.engine.judged import incident
from tests.engine.test_stamps import finding

RULE = RecheckRule()


@pytest.mark.proves("S2-14", "S2-15")
@pytest.mark.parametrize(
    ("changes", "skip"),
    [
        ({"confidence": 0.84}, None),
        ({"confidence": 0.0}, None),
        ({"confidence": 0.85}, RecheckSkip.ABOVE_THRESHOLD),
        ({"confidence": 0.99}, RecheckSkip.ABOVE_THRESHOLD),
        ({"confidence": None}, RecheckSkip.NO_CONFIDENCE),
        ({"confidence": 0.4, "root_cause": None}, RecheckSkip.NO_VERDICT),
        (
            {"confidence": 0.4, "disposition": Disposition.ABSTAINED},
            RecheckSkip.NO_VERDICT,
        ),
        (
            {"confidence": None, "disposition": Disposition.NOT_JUDGED},
            RecheckSkip.NO_VERDICT,
        ),
        ({"confidence": 0.4, "disposition": Disposition.NEEDS_REVIEW}, None),
    ],
)
def test_what_is_sure_enough_or_says_nothing_is_not_handed_on(
    changes: dict[str, Any], skip: RecheckSkip | None
) -> None:
    assert recheck_skip(finding(**changes), incident(), RULE) is skip


@pytest.mark.proves("S2-17")
def test_how_sure_is_sure_enough_is_a_setting() -> None:
    unsure = finding(confidence=0.6)
    assert recheck_skip(unsure, incident(), RecheckRule(threshold=0.5)) is (
        RecheckSkip.ABOVE_THRESHOLD
    )
    assert recheck_skip(unsure, incident(), RecheckRule(threshold=0.61)) is None


def test_a_rehearsal_and_what_is_over_are_not_handed_on() -> None:
    unsure = finding(confidence=0.4)
    drill = incident().model_copy(update={"client_id": DRILL_CLIENT})
    over = incident().model_copy(update={"state": IncidentState.RESOLVED})
    assert recheck_skip(unsure, drill, RULE) is RecheckSkip.DRILL
    assert recheck_skip(unsure, over, RULE) is RecheckSkip.CLOSED
