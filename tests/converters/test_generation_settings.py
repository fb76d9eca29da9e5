"""Generation settings are converted and give the output of transformers; unsupported ones are named."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from converters.fairseq import from_fairseq
from converters.huggingface import from_huggingface
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import load_bundle, save_bundle
from tests.command_line import done, run
from tests.converters.comparison import decode, generate, sources_of
from tests.decoding.fairseq_search import Rules, fairseq_search

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
huggingface = pytest.importorskip("tests.converters.huggingface", reason="transformers is not installed")
fairseq = pytest.importorskip("tests.converters.fairseq", reason="transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

SUMMARISER = {"max_length": 31, "min_length": 12, "no_repeat_ngram_size": 3, "forced_eos_token_id": 2}
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "a summariser": ("bart", SUMMARISER | {"num_beams": 4, "length_penalty": 2.0, "early_stopping": True}),
    "long and unlike the source": ("bart", {"min_length": 26, "max_length": 40, "encoder_no_repeat_ngram_size": 2, "num_beams": 3}),
    "penalties": ("bart", {"max_length": 30, "repetition_penalty": 1.4, "length_penalty": 0.6, "num_beams": 6}),
    "a penalty and padding": ("marian", {"max_length": 30, "repetition_penalty": 1.5, "num_beams": 6, "length_penalty": 0.3}),
    "never stop": ("marian", {"max_length": 20, "min_length": 4, "num_beams": 4, "early_stopping": "never", "no_repeat_ngram_size": 2}),
    "new tokens": ("m2m_100", {"min_new_tokens": 9, "max_new_tokens": 18, "num_beams": 3, "repetition_penalty": 1.2}),
    "short is better": ("m2m_100", {"max_length": 30, "num_beams": 5, "length_penalty": -1.0, "early_stopping": True}),
}


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Makes a saved model of an architecture; each is made once."""
    made: dict[str, Any] = {}
    torch.set_num_threads(1)

    def get(kind: str) -> Any:
        if kind not in made:
            torch.manual_seed(0)
            made[kind] = getattr(huggingface, kind)(tmp_path_factory.mktemp(kind))
        return made[kind]

    return get


def configure(made: Any, folder: Path, settings: Mapping[str, Any]) -> Path:
    """A copy of a saved model with other generation settings, in the folder and in the model itself."""
    for path in made.folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    stored = folder / "generation_config.json"
    kept = {name: value for name, value in json.loads(stored.read_text()).items() if name.endswith("_id") or name == "bad_words_ids"}
    stored.write_text(json.dumps(kept | dict(settings)))
    made.model.generation_config = transformers.GenerationConfig.from_pretrained(folder)
    return folder


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SETTINGS)
def test_output_equals_that_of_transformers(name: str, make: Callable[[str], Any], tmp_path: Path) -> None:
    kind, settings = SETTINGS[name]
    made = make(kind)
    save_bundle(from_huggingface(configure(made, tmp_path, settings), *made.languages).joined(), tmp_path / "bundle")
    bundle = load_bundle(tmp_path / "bundle")
    made.model.double()
    bundle.verifier.double()
    sources = sources_of(made)[:24]
    usual = generate(made, sources, num_beams=1, max_length=31, max_new_tokens=None, min_length=0, min_new_tokens=None, **NEUTRAL)
    greedy = generate(made, sources, num_beams=1)
    assert sum(one != other for one, other in zip(greedy, usual, strict=True)) > 3 or name == "short is better"
    beam = {"decoding": "beam", "max_length": None}
    assert decode(bundle, sources, decoding="greedy", max_length=None, batch_size=5) == greedy
    assert decode(bundle, sources, decoding="lookup,gs-jacobi", max_length=None) == greedy
    assert decode(bundle, sources, batch_size=3, **beam) == generate(made, sources)


NEUTRAL = {"no_repeat_ngram_size": 0, "encoder_no_repeat_ngram_size": 0, "repetition_penalty": 1.0}


def test_scores_of_beam_search_equal_those_of_transformers(make: Callable[[str], Any], tmp_path: Path) -> None:
    """specdec never emits padding, but padding has a share of the probability."""
    made = make("marian")
    with torch.no_grad():
        made.model.final_logits_bias[0, -1] = 4.0
    made.model.float().save_pretrained(made.folder)
    settings = {"num_beams": 4, "max_length": 20, "repetition_penalty": 1.3}
    bundle = from_huggingface(configure(made, tmp_path, settings), *made.languages).joined()
    engine = Engine(bundle, resolve(DecodingOptions(decoding="beam"), bundle))
    for source in sources_of(made)[:8]:
        (found,) = engine.decode([Sentence(0, source)])
        theirs = made.model.generate(torch.tensor([source]), output_scores=True, return_dict_in_generate=True)
        assert found.alternatives[0].score == pytest.approx(float(theirs.sequences_scores[0]), abs=2e-3)


def test_positions_begin_after_padding(make: Callable[[str], Any], tmp_path: Path) -> None:
    made = make("m2m_100")
    folder = configure(made, tmp_path, {})
    config = json.loads((folder / "config.json").read_text())
    padding = config["vocab_size"] - 1
    for name in ("config.json", "generation_config.json"):
        stored = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(stored | {"pad_token_id": padding}))
    other = huggingface.Made(folder, transformers.M2M100ForConditionalGeneration.from_pretrained(folder), made.encode, made.languages)
    other.generation = made.generation | {"num_beams": 1, "max_length": 31}
    bundle = from_huggingface(folder, *made.languages).joined()
    assert bundle.verifier.config.position_offset == padding + 1
    other.model.double()
    bundle.verifier.double()
    sources = sources_of(made)[:12]
    assert decode(bundle, sources, decoding="greedy", max_length=30) == generate(other, sources)


def test_checkpoints_of_fairseq_use_its_search_rules(tmp_path: Path) -> None:
    made = fairseq.transformer(tmp_path, steps=40)
    bundle = from_fairseq(tmp_path).joined()
    info, longest = bundle.info, 12
    assert (info.min_length, info.beam_stop, info.beam_size, info.length_penalty) == (1, "fairseq", 5, 1.0)
    sources, rules = sources_of(made)[:20], Rules(2, 1, 2, longest)

    def search(source: list[int], beam: int) -> list[int]:
        @torch.no_grad()
        def log_probabilities(prefixes: list[list[int]]) -> Tensor:
            inputs = torch.tensor([source] * len(prefixes))
            logits = made.model(input_ids=inputs, decoder_input_ids=torch.tensor(prefixes), use_cache=False).logits[:, -1]
            found: Tensor = logits.float().log_softmax(-1)
            return found

        return fairseq_search(log_probabilities, rules, beam, 1.0)[0][1]

    expected = [search(source, 5) for source in sources]
    assert decode(bundle, sources, decoding="beam", max_length=longest) == expected
    assert decode(bundle, sources, decoding="greedy", max_length=longest) == [search(source, 1) for source in sources]
    assert len(set(map(tuple, expected))) > 5


def test_unsupported_generation_settings_are_named_once_together(make: Callable[[str], Any], tmp_path: Path) -> None:
    unknown = {
        "encoder_repetition_penalty": 1.2,
        "exponential_decay_length_penalty": [10, 1.1],
        "renormalize_logits": True,
        "forced_decoder_ids": [[1, 5]],
        "sequence_bias": [[[5, 6], -1.0]],
        "begin_suppress_tokens": [7],
        "bad_words_ids": [[8, 9]],
        "do_sample": True,
    }
    (tmp_path / "saved").mkdir()
    made = make("bart")
    folder = tmp_path / "saved"
    for path in made.folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    stored = json.loads((folder / "generation_config.json").read_text())
    (folder / "generation_config.json").write_text(json.dumps(stored | unknown | {"temperature": 0.7, "diversity_penalty": 0.0}))
    result = done(run("convert", folder, tmp_path / "bundle"))
    (warning,) = [line for line in result.stderr.splitlines() if "unsupported settings" in line]
    assert all(name in warning for name in unknown) and "temperature" not in warning and "diversity" not in warning


def test_generation_settings_are_read_from_one_file(make: Callable[[str], Any], tmp_path: Path) -> None:
    """transformers reads config.json only if generation_config.json is missing."""
    made = make("bart")
    folder = configure(made, tmp_path, {"num_beams": 3})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_beams": 7, "min_length": 9, "no_repeat_ngram_size": 3}))
    info = from_huggingface(folder).bundle.info
    assert (info.beam_size, info.min_length, info.no_repeat_ngram_size) == (3, 0, 0)
    (folder / "generation_config.json").unlink()
    info = from_huggingface(folder).bundle.info
    assert (info.beam_size, info.min_length, info.no_repeat_ngram_size) == (7, 8, 3)
