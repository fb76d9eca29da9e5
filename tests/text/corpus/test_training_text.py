"""Text for training: its cleaning, sentences of dev and test sets in it, and the mixture of domains."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.errors import InputError
from specdec_cli.text.corpus.augmentation import repeated, repetitions
from specdec_cli.text.corpus.cleaning import CleaningReport, CleaningRules, HeldOut, clean
from specdec_cli.text.corpus.parallel import Pair


def kept(pairs: list[Pair], **rules: object) -> list[Pair]:
    return list(clean(pairs, CleaningRules(**rules), CleaningReport()))  # type: ignore[arg-type]


def test_each_pair_is_kept_once_in_order() -> None:
    pairs = [Pair("b", "B"), Pair("a", "A"), Pair(" b ", "B"), Pair("b", "A"), Pair("b\nB", "")]
    assert kept(pairs) == [Pair("b", "B"), Pair("a", "A"), Pair("b", "A")]


def test_texts_with_equal_concatenations_are_no_duplicates() -> None:
    assert len(kept([Pair("ab", "c"), Pair("a", "bc")])) == 2


def test_only_long_lines_are_checked_for_their_ratio() -> None:
    assert len(kept([Pair("x", "y" * 20), Pair("x", "y" * 21)])) == 1


def test_lines_are_detokenised_and_normalised_on_request() -> None:
    assert kept([Pair("Hello , world !", "„ Ja “ .")]) == [Pair("Hello , world !", "„ Ja “ .")]
    assert kept([Pair("Hello , world !", "Ja .")], detokenize=True) == [Pair("Hello, world!", "Ja.")]
    assert kept([Pair("“Yes”", "„Ja“")], normalize_punctuation=True) == [Pair('"Yes"', '"Ja"')]


def test_pairs_are_held_out_by_either_side_without_case_and_punctuation(tmp_path: Path) -> None:
    dev = tmp_path / "dev.tsv"
    dev.write_text("talk\tGood morning!\tGuten Morgen!\ntalk\t...\t?\n", encoding="utf-8")
    held_out = HeldOut([dev])
    assert held_out.holds(Pair("good  morning", "Moin."))
    assert held_out.holds(Pair("Morning.", "guten morgen"))
    assert not held_out.holds(Pair("Good evening!", "Guten Abend!"))
    assert not held_out.holds(Pair("talk", "Gespräch"))  # the domain is not held out
    assert not held_out.holds(Pair("!", "-"))  # nor is punctuation alone


def test_plain_text_files_are_held_out(tmp_path: Path) -> None:
    (tmp_path / "dev.en").write_text("One sentence.\n", encoding="utf-8")
    assert HeldOut([tmp_path / "dev.en"]).holds(Pair("One sentence", "Ein Satz"))
    assert not HeldOut([]).holds(Pair("", ""))


def test_m2_files_hold_out_originals_and_the_corrections_of_every_annotator(tmp_path: Path) -> None:
    dev, edit = tmp_path / "dev.m2", "A {} {}|||R|||{}|||REQUIRED|||-NONE-|||{}\n"
    dev.write_text("S He do n't goes .\n" + edit.format(1, 2, "does", 0) + edit.format(3, 4, "go", 0) + edit.format(1, 4, "stays", 1))
    held_out = HeldOut([dev])
    for sentence in ("He don't goes.", "He doesn't go.", "He stays."):
        assert held_out.holds(Pair("other", sentence)), sentence
    assert not held_out.holds(Pair("He does not go.", "S"))
    dev.write_text("S He goes .\n" + edit.format(0, 2, "She", 0) + edit.format(1, 3, "went .", 0))
    with pytest.raises(InputError, match=r"dev\.m2: He goes \.: the edit of tokens 1 to 3 overlaps"):
        HeldOut([dev])


COUNTS = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 300), min_size=1)


@given(COUNTS, st.floats(1, 10))
def test_shares_are_proportional_to_the_root_of_the_counts(counts: dict[str, int], temperature: float) -> None:
    pairs = [Pair(str(number), "", domain) for domain, count in counts.items() for number in range(count)]
    made = Counter(pair.domain for pair in repeated(pairs, repetitions(counts, temperature)))
    largest = max(counts.values())
    for domain, count in counts.items():
        assert made[domain] == pytest.approx(largest * (count / largest) ** (1 / temperature), abs=1.01)


@given(COUNTS)
def test_a_temperature_of_one_changes_nothing(counts: dict[str, int]) -> None:
    pairs = [Pair(str(number), "", domain) for domain, count in counts.items() for number in range(count)]
    assert list(repeated(pairs, repetitions(counts, 1.0))) == pairs


def test_every_pair_is_repeated_about_equally_often() -> None:
    pairs = [Pair(str(number), "", "a") for number in range(10)]
    assert Counter(Counter(pair.source for pair in repeated(pairs, {"a": 2.5})).values()) == {2: 5, 3: 5}
