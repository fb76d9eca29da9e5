"""Fixtures: tiny models with random weights, a vocabulary, and settings for all tests."""

import fcntl
import os
import random
import resource
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from specdec_cli.processors import keep_order_of_sums
from specdec_cli.text.locale import languages
from specdec_cli.text.tokenize.sentencepiece import EOS, Subwords, train_subwords

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle
    from tools.consoles import Shell

MADE_UP = {"bundle", "bundle_folder", "corrector_folder"}
"""Fixtures of models whose words are made up."""
THOROUGH = os.environ.get("SPECDEC_TESTS") == "all"
"""Whether random tests draw more examples, as `make test-all` asks for."""

keep_order_of_sums()
# Deadlines would fail on a busy machine.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_configure() -> None:
    """Let Ctrl-C interrupt, even where the process began with SIGINT ignored, as background jobs do: tests send it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def made_up_words_are_of_no_language(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Turn the library of languages off for models of made-up words, which it takes for text in some language: that stays as it is."""
    made_up = MADE_UP.intersection(request.fixturenames)
    if made_up:
        monkeypatch.setattr(languages, "_model", lambda: None)
        languages.probabilities.cache_clear()
    yield
    if made_up:
        languages.probabilities.cache_clear()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as long all cases of a test that is marked as `sampled(n)`, but every nth of them."""
    counts: Counter[str] = Counter()
    for item in items:
        if (sampled := item.get_closest_marker("sampled")) is not None:
            test = item.nodeid.partition("[")[0]
            if counts[test] % sampled.args[0]:
                item.add_marker("long")
            counts[test] += 1


def shared(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """A folder that `build` fills, once for all processes of the test run: the first one that needs it does, the others wait."""
    root = factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else factory.getbasetemp()
    folder = root / f"shared-{name}"
    with (root / f"shared-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            partial = root / f"shared-{name}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            build(partial)
            partial.rename(folder)
    return folder


def make_lines(count: int, seed: int = 0) -> list[str]:
    """Random lines of 1 to 9 made-up words."""
    generator = random.Random(seed)
    syllables = ["ka", "lo", "mi", "ta", "re", "su", "no", "pe", "di", "fo"]

    def word() -> str:
        return "".join(generator.choices(syllables, k=generator.randint(1, 3)))

    return [" ".join(word() for _ in range(generator.randint(1, 9))) for _ in range(count)]


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Limit the size of files to `size` bytes, which has the effect of a full disk."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Use a cache folder for the tests."""
    os.environ["SPECDEC_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(autouse=True)
def no_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make tables as wide as they need to be, whatever the width of the terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Set torch to one thread before each test."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def shell() -> Iterator["Shell"]:
    """A bash that runs the commands of pages and recipes."""
    from tools.consoles import Shell

    with Shell() as shell:
        yield shell


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of data sets, given by SPECDEC_DATA; tests that need it are skipped without it."""
    if "SPECDEC_DATA" not in os.environ:
        pytest.skip("SPECDEC_DATA names no folder")
    return Path(os.environ["SPECDEC_DATA"])


@pytest.fixture(scope="session")
def lines() -> list[str]:
    """Made-up lines for the tiny models."""
    return make_lines(24, seed=1)


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Subwords:
    """A vocabulary of 320 pieces."""
    return train_subwords(make_lines(400), tmp_path_factory.mktemp("tokenizer") / "tokenizer.model", 320, threads=1)


@pytest.fixture(scope="session")
def make_bundle(tokenizer: Subwords) -> Callable[..., "Bundle"]:
    """Makes a bundle with a random Transformer; arguments are fields of its configuration."""
    import torch

    from specdec_cli.model.bundle import Bundle, BundleInfo
    from specdec_cli.model.config import TransformerConfig
    from specdec_cli.model.transformer import Transformer

    small = TransformerConfig(len(tokenizer), width=32, feed_forward=64, heads=2, encoder_layers=1, decoder_layers=2, max_positions=64)

    def make(**changes: Any) -> Bundle:
        torch.manual_seed(0)
        model = Transformer(replace(small, **changes)).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                # With biases of 0 and norms of 1, missing or exchanged ones would not be noticed.
                if parameter.dim() == 1:
                    parameter.add_(0.2 * torch.randn_like(parameter))
        return Bundle(BundleInfo(decoding="greedy"), tokenizer, model)

    return make


@pytest.fixture(scope="session")
def bundle(make_bundle: Callable[..., "Bundle"]) -> "Bundle":
    """A bundle whose model has different outputs for different sources, most of at most 20 tokens."""
    import torch

    made = make_bundle(output_bias=True, embedding_scale=False, positions="learned")
    with torch.no_grad():
        # Without large position embeddings, a random model repeats one token.
        made.verifier.embedding.positions.normal_(std=2.0)
        for name, parameter in made.verifier.named_parameters():
            if name.endswith("cross_attention.output.weight"):
                parameter.mul_(3.0)
        made.verifier.output.bias[EOS] += 0.8
    return made


@pytest.fixture(scope="session")
def bundle_folder(bundle: "Bundle", tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `bundle`."""
    from specdec_cli.model.bundle import save_bundle

    folder = tmp_path_factory.mktemp("models") / "bundle"
    save_bundle(bundle, folder)
    return folder


@pytest.fixture(scope="session")
def corrector_folder(bundle: "Bundle", tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `bundle` with the task of correction, in one language."""
    from specdec_cli.model.bundle import save_bundle

    folder = tmp_path_factory.mktemp("models") / "corrector"
    save_bundle(replace(bundle, info=replace(bundle.info, task="correct", target_language=bundle.info.source_language)), folder)
    return folder


@pytest.fixture(scope="session")
def ctranslate2_folder(bundle: "Bundle", tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`bundle` as a CTranslate2 folder."""
    from converters.to_ctranslate2 import to_ctranslate2

    folder = tmp_path_factory.mktemp("models") / "ctranslate2"
    to_ctranslate2(bundle, folder)
    return folder


@pytest.fixture(scope="session")
def bart_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A transformers folder with a small BART of 1,024 positions, trained to copy."""
    huggingface = pytest.importorskip("tests.converters.huggingface", reason="transformers is not installed")
    folder: Path = huggingface.bart(tmp_path_factory.mktemp("saved"), positions=1024).folder
    return folder
