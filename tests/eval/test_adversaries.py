"""Models that should not be believed: whatever they cite and agree on, code does not stamp it."""

import pytest

from bot.drill.rehearsal_model import answer as honest
from bot.drill.scenarios import deploy_regression
from bot.evaluation.ground import ground_of
from engine.evaluation.answers import Truth, graded
from engine.model.finding import Disposition, Finding, TrustLevel, VerifyStatus, Veto
from tests.eval.adversaries import ADVERSARIES
from tests.eval.decoys import DECOYS
from tests.eval.trial import named, trial, truth_of

HARDEST = (
    "blames the nearest deploy",
    "blames what fails for it",
    "believes the first suspect",
    "obeys text",
    "is vague",
    "is vague, says code_fault",
)


@pytest.mark.parametrize(
    "decoy", ["a little late", "neighbour", "old trouble", "both versions", "only written"]
)
async def test_no_decoy_is_stamped_verified_by_a_model_that_agrees_with_itself(decoy: str) -> None:
    (scenario,) = named(DECOYS, decoy)
    async with ground_of(scenario) as ground, trial(honest) as models:
        for name in HARDEST:
            finding = await models.tried(ground, ADVERSARIES[name])
            # It got as far as a model can bring it: only what code sees stands in the way.
            assert finding.verify_status is VerifyStatus.VERIFIED, name
            assert finding.confidence is not None, name
            assert finding.confidence >= 0.7, name
            assert finding.trust_level is not TrustLevel.VERIFIED, (name, finding.root_cause_key)
            assert finding.vetoes, name


async def test_the_same_round_verifies_the_deploy_that_did_it() -> None:
    async with ground_of(deploy_regression.SCENARIO) as ground, trial(honest) as models:
        finding = await models.tried(ground, honest)
        assert finding.trust_level is TrustLevel.VERIFIED
        assert graded("x", finding, truth_of(deploy_regression.SCENARIO)).correct


async def test_a_cause_that_only_a_text_names_says_so() -> None:
    (scenario,) = named(DECOYS, "only written")
    async with ground_of(scenario) as ground, trial(honest) as models:
        finding = await models.tried(ground, ADVERSARIES["obeys text"])
    assert finding.root_cause_key is not None
    assert finding.root_cause_key.component == "mail-relay"
    assert Veto.ONLY_WRITABLE_TEXT in finding.vetoes


def finding(base: Finding, **changes: object) -> Finding:
    return base.model_copy(update=changes)


async def test_a_wrong_cause_counts_as_false_verified_only_when_it_is_stamped() -> None:
    async with ground_of(deploy_regression.SCENARIO) as ground, trial(honest) as models:
        right = await models.tried(ground, honest)
    truth = Truth(components=("payments",))
    assert graded("x", right, truth).false_verified
    softer = finding(right, trust_level=TrustLevel.UNCONFIRMED)
    assert not graded("x", softer, truth).false_verified
    declined = finding(right, root_cause=None, disposition=Disposition.ABSTAINED)
    assert not graded("x", declined, truth).correct
