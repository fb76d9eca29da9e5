"""A bundle with any invalid value in a JSON file works, or is refused with an error naming file and field.

In the long form every case of a configuration runs in a process of its own; in the short form all but two run in this process.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import SpecdecError
from specdec_cli.model.bundle import load_bundle
from specdec_cli.opening.machine import Machine, move_to
from specdec_cli.pipeline.corrector import LineCorrector
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests.faults.damage import VALUES, Case, cases, linked, outcome, write_bundles
from tests.faults.forked import run_forked

LINES = ["ka lo mi", "Resu no, 12 pe difo."]
FILES = [
    ("drafter", "bundle.json"),
    ("drafter", "verifier/config.json"),
    ("drafter", "drafter/config.json"),
    ("heads", "drafter/config.json"),
    ("masked", "verifier/config.json"),
    ("corrector", "bundle.json"),
    ("corrector", "verifier/config.json"),
    ("sentencepiece", "bundle.json"),
    ("sentencepiece", "verifier/config.json"),
    *((kind, f"tokenizer/{file}") for kind in ("sentencepiece", "tokenizers", "moses-bpe") for file in ("config.json", "vocabulary.json")),
    ("tokenizers", "tokenizer/tokenizer.json"),
]


@pytest.fixture(scope="module")
def bundles(tokenizer: Subwords, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The undamaged bundles."""
    folder = tmp_path_factory.mktemp("bundles")
    write_bundles(folder, tokenizer)
    return folder


def decode(folder: Path) -> tuple[int, str]:
    """Load a bundle and decode with it in this process, with options that read its values; return exit code and message."""
    try:
        bundle = load_bundle(folder)
        resolve(DecodingOptions(), bundle)
        move_to(Machine("cpu", "int8", 1), bundle)
        block = 4 if bundle.drafter is not None else None
        kind = None if bundle.drafter is None else bundle.drafter.config.kind
        names = {None: ["gs-jacobi"], "block": ["specdec", "specdec++"], "heads": ["blockwise"]}[kind]
        if bundle.info.task == "correct":
            names = ["input-guided"]
        if masked := bundle.verifier.config.order == "masked":
            names = ["mask-predict"]
        for name in names:
            size = None if masked else block or 4
            engine = Engine(bundle, resolve(DecodingOptions(decoding=name, block_size=size, max_length=12, with_scores=True), bundle))
            if bundle.info.task == "correct":
                list(
                    LineCorrector(
                        engine, bundle.tokenizer, EditFilter.of(bundle.info), ngrams=bundle.ngrams, lexicon=bundle.lexicon
                    ).correct(LINES)
                )
            else:
                list(LineTranslator(engine, bundle.tokenizer).translate(LINES))
    except SpecdecError as error:
        return error.exit_code, str(error)
    return 0, ""


def program(folder: Path) -> tuple[int, str]:
    """The same on the command line, in a process of its own."""
    command = "correct" if folder.name.startswith("corrector") else "translate"
    bound = ("--block-size", "4") if (folder / "drafter").exists() else ()
    arguments = (command, "-m", str(folder), "--precision", "int8", "--json", "--threads", "1", *bound)
    return run_forked(arguments, folder.parent, "\n".join(LINES))


def damaged(bundles: Path, kind: str, file: str, target: Path) -> Iterator[tuple[Case, Path]]:
    """Copies of a bundle, each with one changed value."""
    for number, case in enumerate(cases(bundles / kind, file)):
        folder = linked(bundles / kind, target / f"{kind}-{number}")
        case.write(folder)
        yield case, folder


def test_undamaged_bundles_decode(bundles: Path) -> None:
    torch.set_num_threads(1)
    kinds = ("drafter", "heads", "masked", "corrector", "sentencepiece", "tokenizers", "moses-bpe")
    assert {kind: decode(bundles / kind) for kind in kinds} == dict.fromkeys(kinds, (0, ""))


@pytest.mark.parametrize(("kind", "file"), FILES, ids=[f"{kind} {file}" for kind, file in FILES])
def test_every_value_works_or_is_refused_by_field(
    bundles: Path, kind: str, file: str, long: bool, count: Callable[[str], None], tmp_path: Path
) -> None:
    torch.set_num_threads(1)
    run = program if long and not file.endswith(("tokenizer.json", "vocabulary.json")) else decode
    outcomes = [outcome(case, *run(folder)) for case, folder in damaged(bundles, kind, file, tmp_path)]
    wrong = [each for each in outcomes if each not in ("done", "refused")]
    for each in outcomes:
        if each not in wrong:
            count(each)
    assert len(outcomes) >= len(VALUES)
    assert wrong == []


@pytest.mark.parametrize(
    "case",
    [
        Case("bundle.json", ("max_length",), -5),
        Case("verifier/config.json", ("decoder_start",), 1_000_000_000),
    ],
    ids=lambda case: str(case.field),
)
def test_programs_refuse_what_would_corrupt_memory(bundles: Path, case: Case, count: Callable[[str], None], tmp_path: Path) -> None:
    folder = linked(bundles / "drafter", tmp_path / "drafter")
    case.write(folder)
    assert outcome(case, *program(folder)) == "refused"
    count("refused")
