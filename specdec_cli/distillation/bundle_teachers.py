"""Opening of teachers; and those in this process: an ensemble of bundles in beam search, and a bundle that an engine decodes.

PyTorch is imported only for an ensemble and for what an engine needs.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, cast

from specdec_cli.decoding.options import BeamSearch, Decoding, DecodingOptions, Sampled
from specdec_cli.decoding.sentence import Sentence, make_sentence
from specdec_cli.distillation.run import DistillationPlan
from specdec_cli.distillation.teachers import Resources, Search, Teacher, TeacherModel, TeacherProcess, Translation, as_ctranslate2
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.opening.engines import open_engine, open_for_loop
from specdec_cli.opening.machine import Device, MachineOptions, Precision
from specdec_cli.opening.models import ModelChoice
from specdec_cli.text.tokenize.tokenizer import Tokenizer

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle

ENSEMBLE_FORMATS = ("float32", "int8")
"""The number formats in which an ensemble computes; in int8 on a CPU by the kernels of the native engine."""


def check_ensemble(models: Sequence[TeacherModel]) -> None:
    """Raise UsageError if one of several teachers is not a bundle."""
    for model in models if len(models) > 1 else ():
        if not model.is_bundle:
            raise UsageError(f"{model.folder}: an ensemble needs bundles; a CTranslate2 folder gives no probabilities")


@contextmanager
def open_teacher(plan: DistillationPlan, converted: Path) -> Iterator[Teacher]:
    """Load a teacher, or an ensemble of several. A single bundle is converted to CTranslate2 in the folder `converted`, if it is missing;
    with sampling, or for its own greedy output, an engine of specdec decodes it.

    Raises UsageError for an ensemble with a CTranslate2 folder, and ModelError for a model that cannot be loaded.
    """
    models, search, resources = plan.models, plan.search, plan.resources
    if plan.sampling is not None or plan.own_greedy:
        yield _by_engine(plan)
        return
    if len(models) == 1:
        with TeacherProcess(as_ctranslate2(models[0], converted), search, resources) as teacher:
            yield teacher
        return
    check_ensemble(models)
    bundles = [open_for_loop(_choice(model), _machine(search, resources)) for model in models]
    yield Ensemble(bundles, search, resources.tokens)


def _choice(model: TeacherModel) -> ModelChoice:
    return ModelChoice(str(model.folder), instruction=model.instruction)


def drawing_options(search: Search, sampling: Sampled) -> DecodingOptions:
    """The options of a decoding that draws tokens."""
    return DecodingOptions(
        sample=True, temperature=sampling.temperature, top_k=sampling.top_k or None, seed=sampling.seed, max_length=search.max_length
    )


def _by_engine(plan: DistillationPlan) -> Teacher:
    """The teacher whose bundle an engine decodes: greedily, or with draws. Raises what `open_engine` raises."""
    search, machine = plan.search, _machine(plan.search, plan.resources)
    greedy = DecodingOptions(decoding="greedy", max_length=search.max_length)
    request = greedy if plan.sampling is None else drawing_options(search, plan.sampling)
    if plan.draft_model:
        request = replace(request, decoding="auto", draft_model=plan.draft_model)
    request = replace(request, batch_size=machine.rows, memory=machine.batch_memory)
    opened = open_engine(_choice(plan.models[0]), machine, request)
    return EngineTeacher(opened.engine, opened.bundle.tokenizer, search.max_source_length)


def _machine(search: Search, resources: Resources) -> MachineOptions:
    return MachineOptions(device=cast(Device, resources.device), precision=cast(Precision, search.compute_type), threads=resources.threads)


class Ensemble:
    """A Teacher that decodes by beam search over the mean of the probabilities of several bundles (Xia et al. 2022, Table 6).

    `batch_tokens` is the largest number of padded source tokens of a batch. Raises ModelError if the bundles differ in vocabulary
    or generation order, and for masked models.
    """

    def __init__(self, bundles: "Sequence[Bundle]", search: Search, batch_tokens: int) -> None:
        from specdec_cli.decoding.verifier import bundle_verifier

        first = bundles[0]
        for number, other in enumerate(bundles[1:], 2):
            if other.tokenizer.vocabulary() != first.tokenizer.vocabulary():
                raise ModelError(f"teacher {number} has another vocabulary than the first; the teachers of an ensemble must share it")
            if other.verifier.config.order != first.verifier.config.order:
                raise ModelError("the teachers differ in order; an ensemble must share it")
        if first.verifier.config.order == "masked":
            raise ModelError("an ensemble decodes by beam search, which models of order masked cannot do")
        self._tokenizer, self._search, self._batch_tokens = first.tokenizer, search, batch_tokens
        self._verifiers = [bundle_verifier(bundle) for bundle in bundles]
        self._eos = first.verifier.config.eos

    def translate(self, sources: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        max_length = min(self._search.max_source_length, *(v.longest_source for v in self._verifiers))
        by_width: dict[int, list[Sentence]] = defaultdict(list)
        for number, ids in enumerate(map(self._tokenizer.add_special_tokens, self._tokenizer.encode_batch(sources))):
            if len(ids) > max_length:
                yield number, Translation("", len(ids), 0, finished=False)
            else:
                by_width[self._verifiers[0].source_width(len(ids))].append(Sentence(number, ids))
        for width, sentences in sorted(by_width.items()):
            yield from self._search_width(width, sentences)

    def _search_width(self, width: int, sentences: Sequence[Sentence]) -> Iterator[tuple[int, Translation]]:
        from specdec_cli.decoding.beam import beam_search

        lengths = {sentence.number: len(sentence.source) for sentence in sentences}
        rows = max(1, self._batch_tokens // width)
        search = BeamSearch(self._search.beam_size, self._search.length_penalty, self._search.n_best)
        decoding = Decoding(method="beam", search=search, batch_size=rows, max_length=self._search.max_length)
        for found in beam_search(self._verifiers, sentences, decoding):
            for ids in (hypothesis.ids for hypothesis in found.alternatives):
                text = self._tokenizer.decode(ids)
                yield found.number, Translation(text, lengths[found.number], len(ids), finished=ids[-1] == self._eos)


class EngineTeacher:
    """A Teacher that translates lines with `engine`, whose decoding is greedy, or samples.

    A line draws from a random stream of its own, given by its text: so shards, workers and resumed runs do not change what it gets.
    Lines of more than `max_source_length` tokens are not translated.
    """

    def __init__(self, engine: SentenceDecoder, tokenizer: Tokenizer, max_source_length: int) -> None:
        self._engine, self._tokenizer = engine, tokenizer
        self._longest = min(max_source_length, engine.longest_source)

    def translate(self, sources: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        encoded = enumerate(zip(sources, self._tokenizer.encode_batch(sources), strict=True))
        eos = self._engine.eos
        sentences = [make_sentence(self._tokenizer, eos, number, text, ids, stream=_stream(text)) for number, (text, ids) in encoded]
        for each in sentences:
            if len(each.source) > self._longest:
                yield each.number, Translation("", len(each.source), 0, finished=False)
        for hypothesis in self._engine.decode([each for each in sentences if len(each.source) <= self._longest]):
            length, finished = len(sentences[hypothesis.number].source), hypothesis.ids[-1] == self._engine.eos
            yield hypothesis.number, Translation(self._tokenizer.decode(hypothesis.ids), length, len(hypothesis.ids), finished)


def _stream(text: str) -> tuple[int, int]:
    """The two words of 32 bits that choose the random stream of a text."""
    digest = sha256(text.encode()).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")
