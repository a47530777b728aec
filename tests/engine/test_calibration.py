"""What people said of findings corrects the numbers of their model; no correction lifts a cap."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.eval_ import lines, measured
from engine.calibration import calibration, interpolated, pooled, quality
from engine.confidence import Said, weigh
from engine.model.finding import ConfidenceStepName
from engine.model.policy import TriageRule
from engine.model.review import Label
from storage.store import SqlStore
from tests.engine.judged import UP, Table, drafted, ruled
from tests.fakes import FakeMetrics, MemoryStore, ScriptedLLM

MODEL = TriageRule().model


def labels(*pairs: tuple[float, int, int]) -> list[Label]:
    """For each number said: how many held, of how many."""
    return [
        Label(said=said, shown=said, held=place < held)
        for said, held, of in pairs
        for place in range(of)
    ]


BOASTFUL = labels((0.5, 5, 20), (0.8, 10, 20), (0.95, 12, 20))


@pytest.mark.proves("S3-68")
def test_a_model_is_taken_at_its_word_until_fifty_findings_were_judged() -> None:
    assert calibration(BOASTFUL[:49])(0.5) == 0.5
    assert calibration(BOASTFUL[:50])(0.5) == 0.25
    assert calibration([])(0.3) == 0.3


def test_the_map_says_how_often_it_held() -> None:
    fitted = calibration(BOASTFUL)
    assert [round(fitted(said), 2) for said in (0.5, 0.8, 0.95)] == [0.25, 0.5, 0.6]
    assert round(fitted(0.65), 3) == 0.375
    assert (fitted(0.1), fitted(1.0)) == (0.25, 0.6)


def test_neighbours_out_of_order_are_pooled_by_weight() -> None:
    knots = pooled([(0.2, True), (0.4, False), (0.4, False), (0.6, True), (0.9, True)])
    assert [(k.least, k.most, k.weight) for k in knots] == [(0.2, 0.4, 3), (0.6, 0.9, 2)]
    assert [round(k.share, 3) for k in knots] == [0.333, 1.0]
    assert interpolated(knots, 0.3) == knots[0].share
    assert interpolated((), 0.3) == 0.3


PAIRS = st.lists(st.tuples(st.sampled_from([n / 20 for n in range(21)]), st.booleans()), min_size=1)


@given(pairs=PAIRS)
def test_a_map_never_falls_and_stays_a_share(pairs: list[tuple[float, bool]]) -> None:
    knots = pooled(pairs)
    read = [interpolated(knots, n / 100) for n in range(101)]
    assert all(low <= high for low, high in pairwise(read))
    assert read[0] >= 0
    assert read[-1] <= 1
    assert sum(k.weight for k in knots) == len(pairs)
    mean = sum(k.share * k.weight for k in knots)
    assert mean == pytest.approx(sum(held for _, held in pairs))


@given(pairs=PAIRS, share=st.floats(0, 1))
def test_no_other_rising_map_of_one_level_is_nearer(
    pairs: list[tuple[float, bool]], share: float
) -> None:
    knots = pooled(pairs)
    fitted = sum((interpolated(knots, value) - held) ** 2 for value, held in pairs)
    assert fitted <= sum((share - held) ** 2 for _, held in pairs) + 1e-9


@given(pairs=PAIRS, judged=st.floats(0, 1), own=st.floats(0, 1))
def test_no_fitted_map_lifts_a_hard_limit(
    pairs: list[tuple[float, bool]], judged: float, own: float
) -> None:
    fitted = calibration([Label(said=v, shown=v, held=h) for v, h in pairs], least=1)
    said = {"self_confidence": own, "judged_confidence": judged}
    limits = {"metadata_only": 0.6, "correction_untested": 0.6, "replaced": 0.7}
    for name, cap in limits.items():
        weighed = weigh(Said.model_validate({**said, name: True}), fitted)
        assert (weighed.value or 0) <= cap
    blind = weigh(Said.model_validate({**said, "query_failed": True}), fitted)
    assert (blind.value or 0) <= own


@pytest.mark.proves("S3-68")
def test_a_triage_is_shown_what_the_labels_of_its_model_make_of_the_number() -> None:
    def desk(store: MemoryStore) -> Table:
        llm = ScriptedLLM([drafted(), ruled(confidence=0.95)])
        return Table(llm, metrics=FakeMetrics(UP), store=store)

    assert desk(MemoryStore()).triage().confidence == 0.95
    assert desk(MemoryStore(outcomes={"another": BOASTFUL})).triage().confidence == 0.95
    finding = desk(MemoryStore(outcomes={MODEL: BOASTFUL})).triage()
    assert finding.confidence == 0.6
    assert [s.name for s in finding.confidence_steps] == [
        ConfidenceStepName.JUDGED,
        ConfidenceStepName.CALIBRATED,
    ]


def test_brier_and_calibration_error() -> None:
    perfect = quality([(1.0, True), (0.0, False)])
    assert (perfect.brier, perfect.ece, perfect.held) == (0, 0, 0.5)
    boast = quality([(0.9, True), (0.9, False), (0.1, False), (0.1, False)])
    assert boast.brier == pytest.approx((0.01 + 0.81 + 0.01 + 0.01) / 4)
    assert boast.ece == pytest.approx((0.8 + 0.2) / 4)
    assert quality([]).brier is None
    # Bins are apart: two wrongs of opposite direction do not make a right.
    assert quality([(0.95, False), (0.05, True)]).ece == pytest.approx(0.95)


def test_ten_bins_are_closed_above_and_the_first_holds_nothing_at_all_too() -> None:
    assert quality([(0.1, True), (0.05, False)]).ece == pytest.approx(0.425)
    assert quality([(0.0, True), (0.05, False)]).ece == pytest.approx(0.475)
    assert quality([(0.1, True), (0.15, False)]).ece == pytest.approx((0.9 + 0.15) / 2)
    assert quality([(1.0, False), (0.95, True)]).ece == pytest.approx(0.475)
    assert quality([(0.5, True)]).labels == 1


def test_equal_shares_are_one_and_what_lies_between_two_is_on_their_line() -> None:
    (knot,) = pooled([(0.4, True), (0.2, True)])
    assert (knot.least, knot.most, knot.share, knot.weight) == (0.2, 0.4, 1, 2)
    apart = pooled([(0.2, False), (0.6, True), (0.6, False)])
    read = [interpolated(apart, value) for value in (0.1, 0.2, 0.3, 0.4, 0.6, 0.7)]
    assert read == pytest.approx([0, 0, 0.125, 0.25, 0.5, 0.5])


def test_the_report_says_what_is_known_of_a_model() -> None:
    few = lines("m", labels((0.8, 1, 2)))
    assert few == [
        "m: 2 labels",
        "  said by the model   Brier 0.340  ECE 0.300",
        "  shown on cards      Brier 0.340  ECE 0.300",
        "  map: none before 50 labels; numbers are shown as they are",
    ]
    many = lines("m", BOASTFUL)
    assert many[0] == "m: 60 labels"
    assert many[-1] == (
        "  map: 0.50-0.50 → 0.25 (20), 0.80-0.80 → 0.50 (20), 0.95-0.95 → 0.60 (20)"
    )


async def test_without_verdicts_the_report_says_how_to_give_one(store: SqlStore) -> None:
    async with store.begin() as tx:
        assert await measured(tx) == ["no verdict was given yet; `caveat verdict` gives one"]
