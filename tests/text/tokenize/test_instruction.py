"""An instruction in front of each source, and the text that input-guided decoding copies without it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import tokenizers

from specdec_cli.decoding.sentence import make_sentence
from specdec_cli.errors import UsageError
from specdec_cli.text.tokenize.converted import ConvertedTokenizer, TokenizerConfig, load_converted, make_segmenter
from specdec_cli.text.tokenize.segmenters import TokenizersSegmenter
from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests.conftest import make_lines

INSTRUCTIONS = ("kalo mi zu:", "kalo mi zu: ", "  ka", "unknown Ünïcode words: ")
LINES = [*make_lines(56, seed=3), "unknown Ünïcode", "ka  lo mi", "", "a"]


def sentencepiece(tokenizer: Subwords, folder: Path) -> ConvertedTokenizer:
    """A tokenizer that marks the beginnings of words."""
    config = TokenizerConfig("sentencepiece", (tokenizer.path.name,), "<unk>", "<pad>", ("</s>",))
    segmenter = make_segmenter(config, tokenizer.path.parent, "", "", [])
    return ConvertedTokenizer(config, segmenter, tokenizer.vocabulary(), None, "", "", folder)


def bytewise(tokenizer: Subwords, folder: Path) -> ConvertedTokenizer:
    """A tokenizer with a piece for each byte."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    pieces = ["<pad>", "<unk>", "</s>", *alphabet]
    library = tokenizers.Tokenizer(tokenizers.models.BPE({piece: number for number, piece in enumerate(pieces)}, []))
    library.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    library.decoder = tokenizers.decoders.ByteLevel()
    config = TokenizerConfig("tokenizers", ("tokenizer.json",), "<unk>", "<pad>", ("</s>",))
    assert len(tokenizer) > 3
    return ConvertedTokenizer(config, TokenizersSegmenter(library, "tokenizer.json"), pieces, None, "", "", folder)


@pytest.fixture(params=[sentencepiece, bytewise])
def plain(request: pytest.FixtureRequest, tokenizer: Subwords, tmp_path: Path) -> ConvertedTokenizer:
    """A tokenizer without an instruction."""
    make: Callable[[Subwords, Path], ConvertedTokenizer] = request.param
    return make(tokenizer, tmp_path)


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_the_ids_are_those_of_instruction_and_text_together(plain: ConvertedTokenizer, instruction: str) -> None:
    told = plain.instructed(instruction)
    assert told.special_tokens.before != () == plain.special_tokens.before
    for line in filter(None, LINES):
        assert told.add_special_tokens(told.encode(line)) == plain.add_special_tokens(plain.encode(f"{instruction.rstrip()} {line}")), line
        assert told.decode(told.encode(line)) == plain.decode(plain.encode(line))


def test_an_instruction_is_stored_and_can_be_removed(plain: ConvertedTokenizer, tmp_path: Path) -> None:
    plain.instructed("ka lo: ").save(tmp_path)
    loaded = load_converted(tmp_path, "", "")
    assert loaded.config.instruction == "ka lo: "
    assert loaded.special_tokens == plain.instructed("ka lo: ").special_tokens
    for empty in ("", "  "):
        assert loaded.instructed(empty).special_tokens == plain.special_tokens


def test_languages_are_named_in_the_instruction(plain: ConvertedTokenizer, tmp_path: Path) -> None:
    config = replace(plain.config, languages={"en": "lo", "de": "mika"}, instruction="{source} zu {target}:")
    plain.config = config
    plain.save(tmp_path)
    told = load_converted(tmp_path, "en", "de")
    assert told.add_special_tokens(told.encode("ka")) == plain.add_special_tokens(plain.encode("lo zu mika: ka"))
    with pytest.raises(UsageError, match="needs a target language; it knows de, en"):
        load_converted(tmp_path, "en", "")


@pytest.mark.parametrize("instruction", ["", "kalo mi: "])
@pytest.mark.parametrize("copied", [None, "ka lo", "ka  lo"])
def test_a_copy_is_the_text_alone_as_an_output(plain: ConvertedTokenizer, instruction: str, copied: str | None) -> None:
    eos = plain.special_tokens.after[0]
    told = plain.instructed(instruction)
    sentence = make_sentence(told, eos, 4, "ka  lo", copied=copied)
    assert (sentence.number, sentence.text, sentence.source) == (4, "ka  lo", told.add_special_tokens(told.encode("ka  lo")))
    text = "ka  lo" if copied is None else copied
    needed = instruction or text != "ka  lo"
    assert list(sentence.copy) == ([*plain.encode(text), eos] if needed else [])
