"""A pack that is too long: what its shorter revision keeps, and what it says of the rest."""

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.caveats import caveats
from engine.model.finding import CaveatCode, Disposition
from engine.model.pack import Item, Pack, SectionName
from engine.pack.shortening import LONGEST_CHARACTERS, shortened
from tests.engine.judged import ALERT, DEPLOY, OWN, metric, pack

MANY = [metric(f"M{n}", f"series {n} " + "x" * 80, None) for n in range(2, 40)]


def length(one: Pack) -> int:
    return sum(len(item.text) for item in one.items)


def test_the_last_of_the_longest_section_goes_first_and_is_counted_as_left_out() -> None:
    whole = pack(ALERT, OWN, *MANY, DEPLOY)
    short = shortened(whole)
    metrics = short.section(SectionName.METRICS)
    assert metrics is not None
    assert (short.revision, length(short) <= length(whole) / 2) == (2, True)
    assert [item.id for item in metrics.items] == [
        f"M{n}" for n in range(1, len(metrics.items) + 1)
    ]
    assert metrics.omitted == 1 + len(MANY) - len(metrics.items)
    assert short.section(SectionName.DEPLOYS) == whole.section(SectionName.DEPLOYS)
    assert short.hash != whole.hash


def test_what_suspects_rest_on_stays_whatever_is_left_out() -> None:
    whole = pack(ALERT, *MANY, OWN)
    last = whole.suspects[0].model_copy(update={"evidence_ids": ("M39", "M1")})
    short = shortened(whole.model_copy(update={"suspects": (last,)}))
    assert {"A1", "M2", "M39", "M1"} <= {item.id for item in short.items}


def test_one_endless_line_is_cut_where_nothing_can_go() -> None:
    short = shortened(pack(ALERT.model_copy(update={"text": "y" * 9000})))
    assert [len(item.text) for item in short.items] == [LONGEST_CHARACTERS]


def test_a_shorter_pack_says_which_parts_it_lacks() -> None:
    short = shortened(pack(ALERT, OWN, *MANY, DEPLOY))
    [told] = caveats(short, None, disposition=Disposition.ANSWERED)
    assert (told.code, dict(told.facts)) == (
        CaveatCode.PACK_DEGRADED,
        {"shortened": "metrics", "revision": 2},
    )


@settings(max_examples=30)
@given(texts=st.lists(st.text(max_size=900), min_size=1, max_size=14))
def test_it_never_grows_and_never_empties_a_section(texts: list[str]) -> None:
    items: list[Item] = [
        metric(f"M{n}", "m", None).model_copy(update={"text": said})
        for n, said in enumerate(texts, start=1)
    ]
    whole = pack(ALERT, *items)
    short = shortened(whole)
    assert length(short) <= length(whole)
    assert [bool(s.items) for s in short.sections] == [bool(s.items) for s in whole.sections]
