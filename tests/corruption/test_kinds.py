"""Each kind of error applied to a suitable sentence."""

import pytest

from specdec_cli.corruption.corrupter import KINDS, Corrupter, CorruptionRecipe, ErrorCounts

ONE_ERROR = ErrorCounts(mean=1.0, variance=0.0, limit=0.0001)

# A kind, a sentence, and its possible results.
EXAMPLES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("article_drop", "The cat sat on the mat.", ("Cat sat on the mat.", "The cat sat on mat.")),
    ("article_insert", "He lives in London.", ("He lives in the London.",)),
    ("article_insert", "Cars pollute.", ("The cars pollute.",)),
    ("article_insert", "I have good news.", ("I have a good news.", "I have the good news.")),
    ("article_swap", "It is the same story.", ("It is a same story.",)),
    ("article_swap", "The oldest house burns.", ("An oldest house burns.",)),
    ("article_sound", "She ate an apple.", ("She ate a apple.",)),
    ("article_sound", "A university is near.", ("An university is near.",)),
    ("preposition_swap", "He depends on me.", tuple(f"He depends {word} me." for word in ("in", "at", "of", "about", "to", "for", "over"))),
    ("preposition_drop", "Listen to music.", ("Listen music.",)),
    ("preposition_insert", "We discussed the plan.", ("We discussed about the plan.", "We discussed on the plan.")),
    ("preposition_insert", "She married a doctor.", ("She married with a doctor.", "She married to a doctor.")),
    ("preposition_insert", "They went home.", tuple(f"They went {word} home." for word in ("to", "in", "at", "to the", "at the"))),
    ("agreement", "She has two cats.", ("She have two cats.",)),
    ("agreement", "They were late.", ("They was late.",)),
    ("agreement", "He sings.", ("He sing.",)),
    ("agreement", "One of my friends sings.", ("One of my friends sing.",)),
    ("agreement", "My parents live in Rome.", ("My parents lives in Rome.",)),
    ("verb_form", "He can swim.", tuple(f"He can {word}." for word in ("swims", "swimming", "swam", "swum", "to swim"))),
    ("verb_form", "I have seen it.", ("I have see it.", "I have saw it.")),
    ("verb_form", "They decided to write.", tuple(f"They decided {word}." for word in ("writing", "to writing", "to wrote", "to writes"))),
    ("infinitive", "We enjoy reading.", ("We enjoy to read.",)),
    ("infinitive", "Please stop talking.", ("Please stop to talk.",)),
    ("tense", "He went there and was happy.", ("He goes there and was happy.", "He went there and is happy.")),
    ("tense", "She has known him since May.", ("She knows him since May.", "She knew him since May.")),
    ("tense", "I saw him yesterday.", ("I see him yesterday.", "I have seen him yesterday.")),
    ("irregular_form", "He caught two mice.", ("He catched two mice.", "He caught two mouses.")),
    ("irregular_form", "Both cities stopped.", ("Both citys stopped.", "Both cities stoped.")),
    ("auxiliary_drop", "He is going.", ("He going.",)),
    ("auxiliary_drop", "I do not know.", ("I not know.",)),
    ("auxiliary_insert", "I agree.", ("I am agree.",)),
    ("auxiliary_insert", "She agrees.", ("She is agrees.", "She is agree.")),
    ("auxiliary_insert", "They went out.", ("They were went out.",)),
    ("noun_number", "There are many reasons.", ("There are many reason.",)),
    ("noun_number", "Every student slept.", ("Every students slept.",)),
    ("noun_number", "I need some advice.", ("I need some advices.",)),
    ("double_plural", "I got a lot of good advice.", ("I got a lot of good advices.", "I got many good advices.")),
    ("possessive", "It is Ann's car.", ("It is Ann car.", "It is Anns car.", "It is Anns' car.")),
    ("possessive", "The boys' room was big.", ("The boys room was big.", "The boy's room was big.")),
    ("adjective_form", "He runs quickly.", ("He runs quick.",)),
    ("adjective_form", "She sings very well.", ("She sings very good.",)),
    ("adjective_form", "It is a serious problem.", ("It is a seriously problem.",)),
    ("adjective_form", "Mine is bigger.", tuple(f"Mine is more {word}." for word in ("big", "bigger"))),
    ("adjective_form", "I am bored.", ("I am boring.",)),
    ("derivation", "That is important.", ("That is importance.",)),
    ("homophone", "Their house is old.", ("There house is old.", "They're house is old.")),
    ("homophone", "It is too late.", ("It is to late.", "It is also late.", "It is too lately.")),
    ("verb_choice", "He made a mistake.", tuple(f"He {word} a mistake." for word in ("did", "gave", "took"))),
    ("verb_choice", "She told me.", ("She said me.",)),
    ("verb_choice", "I did my homework.", ("I made my homework.",)),
    ("pronoun", "I like him.", ("Me like him.", "My like him.", "I like he.", "I like his.", "I like it.")),
    ("conjunction", "I left because it rained.", tuple(f"I left {word} it rained." for word in ("so", "since", "because of", "as"))),
    ("conjunction", "Although it rained, we left.", (
        "But it rained, we left.", "Despite it rained, we left.", "However it rained, we left.", "Although it rained, but we left.",
    )),
    ("dropped_word", "I want to go.", ("Want to go.", "I want go.")),
    ("doubled_word", "Look at me.", ("Look at at me.", "Look at me me.", "Look look at me.")),
    ("collocation", "We went to Italy.", ("We went in Italy.", "We went at Italy.")),
    ("collocation", "She listens to music.", ("She listens music.", "She listens at music.")),
    ("collocation", "I am good at it.", ("I am good in it.", "I am good on it.")),
    ("collocation", "Thank you for it.", ("Thank you about it.", "Thank you of it.")),
    ("time_preposition", "See you on Monday.", ("See you in Monday.", "See you at Monday.")),
    ("time_preposition", "I have slept for ten hours.", ("I have slept since ten hours.", "I have slept from ten hours.")),
    ("double_plural", "The children slept.", ("The childrens slept.", "The childs slept.")),
    ("common_homophone", "You're late.", ("Your late.",)),
    ("common_homophone", "I should have gone.", ("I should of gone.",)),
    ("complement", "I look forward to meeting him.", ("I look forward to meet him.",)),
    ("complement", "She made me wait.", ("She made me to wait.",)),
    ("complement", "He wants us to come.", ("He wants that we come.",)),
    ("complement", "They explained the rules to me.", ("They explained me the rules.",)),
    ("complement", "She told me.", ("She said me.",)),
    ("complement", "He suggested that we should go.", ("He suggested us to go.",)),
    ("clause_tense", "When I arrive, I will call.", ("When I will arrive, I will call.",)),
    ("clause_tense", "If he had time, he would go.", ("If he would have time, he would go.",)),
    ("clause_tense", "She has been living here since May.", ("She is living here since May.", "She lives here since May.")),
    ("clause_tense", "I have known him for years.", ("I know him for years.", "I know him since years.")),
    ("state_of_having", "I'm 25 years old.", ("I have 25 years old.", "I have 25 years.")),
    ("state_of_having", "He is ten years old.", ("He has ten years old.", "He has ten years.")),
    ("state_of_having", "She was cold.", ("She had cold.",)),
    ("clause_order", "I like this song very much.", ("I like very much this song.",)),
    ("clause_order", "Tell me where the station is.", ("Tell me where is the station.",)),
    ("clause_order", "I know what it means.", ("I know what does it mean.",)),
    ("word_order", "She always sings.", ("She sings always.",)),
    ("word_order", "Where are you?", ("Where you are?",)),
    ("fused", "Thanks a lot.", ("Thanks alot.", "Thanksa lot.")),
    ("split", "He cannot swim without it.", ("He can not swim without it.", "He cannot swim with out it.")),
    ("hyphen", "A well-known man.", ("A well known man.", "A wellknown man.")),
    ("spacing", "Yes, it is.", ("Yes,it is.", "Yes , it is.", "Yes, it is .")),
    ("comma_drop", "In May, she left.", ("In May she left.",)),
    ("comma_insert", "I know that he left.", ("I know, that he left.", "I know that, he left.")),
    ("punctuation_swap", "We ate. Then we slept.", ("We ate, then we slept.", "We ate then we slept.")),
    ("punctuation_swap", "We ate, we slept.", ("We ate; we slept.", "We ate. We slept.")),
    ("final_stop", "Why?", ("Why", "Why.", "Why??")),
    ("apostrophe", "I don't know.", ("I dont know.", "I do'nt know.")),
    ("lower_case", "Now I saw Rome.", ("now I saw Rome.", "Now i saw Rome.", "Now I saw rome.")),
    ("upper_case", "The river Thames.", ("The River Thames.",)),
    ("character_drop", "书在家。", ("书家。", "在家。", "书在。")),
    ("character_insert", "书。", tuple(f"{word}书。" for word in "的了是有在也就对不很都我会个")),
    ("character_confusion", "书。笔", ("书\uff0c笔",)),
    ("character_swap", "我买书。", ("买我书。", "我书买。")),
)  # fmt: skip
SPELLING = ("misspelling", "sound", "keyboard", "transposition", "letter_drop", "letter_double")


def outcomes(kind: str, text: str, tries: int = 60) -> set[str]:
    """The different results of a kind over several lines of the same text, without the text itself."""
    corrupter = Corrupter(CorruptionRecipe(0.0, ONE_ERROR, {kind: 1.0}), seed=1)
    corruptions = [corrupter.corrupt(text, number) for number in range(tries)]
    assert {error for corruption in corruptions for error in corruption.errors} <= {kind}
    return {corruption.text for corruption in corruptions} - {text}


@pytest.mark.parametrize(("kind", "text", "expected"), EXAMPLES)
def test_each_kind_makes_the_expected_errors(kind: str, text: str, expected: tuple[str, ...]) -> None:
    found = outcomes(kind, text)
    assert found
    assert found <= set(expected)


@pytest.mark.parametrize("kind", SPELLING)
def test_spelling_errors_change_one_word(kind: str) -> None:
    text = "They definitely received beautiful letters."
    words = text.rstrip(".").split()
    found = outcomes(kind, text)
    assert found
    for corrupted in found:
        others = corrupted.rstrip(".").split()
        assert len(others) == len(words)
        assert sum(one != other for one, other in zip(words, others, strict=True)) == 1


def test_every_kind_of_error_has_an_example() -> None:
    assert {kind for kind, _, _ in EXAMPLES} | set(SPELLING) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_words_that_are_not_english_are_unchanged(kind: str) -> None:
    assert outcomes(kind, "12 3,500 http://the.example.org/an/a?in=of me@there.example.org $20", tries=20) == set()


def test_capitals_and_typographic_apostrophes_are_kept() -> None:
    assert outcomes("homophone", "THEIR house.") == set()
    assert outcomes("homophone", "It’s here.") == {"Its here.", "It’s hear."}  # noqa: RUF001
    assert outcomes("apostrophe", "We don’t.") == {"We dont.", "We do’nt."}  # noqa: RUF001
    assert outcomes("article_insert", "Students in Rome.") <= {"The students in Rome.", "Students in the Rome."}
    assert outcomes("word_order", "Never is it late.") <= {"Is never it late."}


def test_japanese_lines_have_no_errors_of_chinese_characters() -> None:
    for kind in ("character_drop", "character_insert", "character_confusion", "character_swap"):
        assert outcomes(kind, "\u4f1a\u8b70\u306f\uff0c\uff13\u6642\u3001\u59cb\u307e\u308b\u3002\u4ed6") == set()


def test_a_final_stop_of_chinese_stays() -> None:
    assert outcomes("character_confusion", "书。”") == set()
    assert outcomes("character_confusion", "买书。") == {"卖书。"}


def test_possibly_correct_changes_are_not_made() -> None:
    assert outcomes("agreement", "If I were you.") == set()
    assert outcomes("agreement", "You can have it.") == set()
    assert outcomes("preposition_swap", "I want to go.") == set()
    assert outcomes("tense", "She walked home.") == set()
    assert outcomes("comma_drop", "It cost 3,500 dollars.") == set()
