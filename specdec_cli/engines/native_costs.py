"""The costs of the native engine's rounds on this machine, its choice of the number of drafted tokens by them, and whether drafts pay."""

import ctypes
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from specdec_cli.decoding.costs import ROWS, Case, Costs, made_up_sources, measured_sizes
from specdec_cli.decoding.options import Decoding, Rule
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.measurements import cached_costs, final_costs
from specdec_cli.measurement_cache import CachedMeasurement
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.library import HEADER, check, instruction_set, load_library
from specdec_cli.native.model import NativeModel, Resources

SIZES = (1, 3, 5, 7, 11, 15)
"""Draft sizes that are measured, in tokens. A pass also has the last token of the output, so that it has 2, 4, 6, 8, 12 or 16 positions:
weights are multiplied by 6 positions at a time, so that 6 cost little more than 4, and 8 much more than 6.
"""
_ROUNDS = {1: 6, ROWS: 3}
"""Rounds of each session, by rows; the first one is slower."""
_SESSIONS = 12
"""Most sessions of each case of 1 row; there is one of 8 rows for each 4 of them (_EACH_MANY)."""
_EACH_MANY = 4
_ENOUGH = 0.1
"""Seconds after which no further sessions start."""
FAR = 2 / 3
"""Drafts are far from paying if they would not pay in two thirds of their time."""
_UNKNOWN = 1.0
"""Cost in milliseconds of rounds that could not be measured because the model ends every sentence at once."""

OFTEN = 16
"""Sentences of a trial of drafts after which it is written."""
_LARGEST = 2**53
"""Bound of numbers in the file of a trial."""


@dataclass(frozen=True)
class MeasuredModel:
    """What the costs of rounds depend on, and the key of their cache: the configurations of the `verifier` and of its `drafter` or draft
    model, the largest number of drafted tokens (`longest`), and the number of `threads`; and the instruction set.

    One row is decoded by `threads` threads, several rows by one thread. `alone`: sentences are decoded one by one, so that nothing is
    measured for several rows, which takes most of the time for a large model.
    """

    verifier: TransformerConfig
    drafter: DrafterConfig | TransformerConfig
    longest: int
    threads: int
    alone: bool = False

    @property
    def measurement(self) -> CachedMeasurement:
        """The file of the cache for the costs of this model on this processor; it need not exist yet."""
        return CachedMeasurement("costs", self._key)

    def drafts_of(self, weights: object, rule: Rule) -> CachedMeasurement:
        """The file of the cache of the trial of drafts of a model with these `weights`, accepted by the `rule`."""
        return CachedMeasurement("drafts", (*self._key, weights, rule))

    @property
    def _key(self) -> tuple[object, ...]:
        return "native", SIZES, instruction_set(), self.threads, self.verifier, self.drafter, self.longest, self.alone


def stored_costs(measured: MeasuredModel) -> Costs | None:
    """The costs if no further run needs to measure them, else None."""
    return final_costs(measured.measurement)


def round_costs(measured: MeasuredModel, model: NativeModel, draft_model: NativeModel | None = None) -> Costs:
    """Return the cached costs, or measure them (see `cached_costs`) with `model`, which has the drafter, and with the draft model, if that
    drafts.

    Costs at which drafts are far from paying (FAR) are not measured again.
    """
    return cached_costs(
        measured.measurement,
        lambda: measure_native_costs(model, measured.longest, measured.threads, draft_model, alone=measured.alone),
        lambda costs: not costs.can_pay(1, range(1, measured.longest + 1), FAR),
    )


def measure_native_costs(
    model: NativeModel, longest: int, threads: int, draft_model: NativeModel | None = None, *, alone: bool = False
) -> Costs:
    """Measure the costs of rounds over made-up sources, of 1 row and of 8 rows (ROWS), without drafts and with drafts of 1, 3, 5,
    7, 11 and 15 tokens, but of at most `longest` tokens.

    A cost is the minimum over all rounds, because other load on the machine can only make a round slower. One row is
    decoded by `threads` threads; several rows by one thread, in processor time, and with `alone` not at all: they then count as so many
    times one row. A draft model takes a step for each token.
    """
    sizes = measured_sizes(SIZES, longest)
    cases = [(rows, size) for rows in ((1,) if alone else (1, ROWS)) for size in (0, *sizes)]
    drafting, verifying = (dict.fromkeys(cases, inf) for _ in range(2))
    started = time.perf_counter()
    # Sessions are interleaved, so that a short load on the machine does not fall on one case alone.
    for session in range(_SESSIONS):
        for case in cases:
            if case[0] > 1 and session % _EACH_MANY:
                continue
            drafted, verified = (_times if draft_model is None else _times_of_passes)(model, *case, threads)
            verifying[case] = min(verifying[case], verified or inf)
            if draft_model is None:
                drafting[case] = min(drafting[case], drafted or inf)
        if draft_model is not None:
            for rows in (1,) if alone or session % _EACH_MANY else (1, ROWS):
                step = _times(draft_model, rows, 0, threads)[1] or inf
                drafting |= {(rows, size): min(drafting[rows, size], size * step) for size in sizes}
        if time.perf_counter() - started > _ENOUGH:
            break
    return Costs.of_cases(sizes, _known(verifying), _known(drafting))


def _known(times: dict[Case, float]) -> dict[Case, float]:
    """The times with those that are not known: of sentences that end at once, and of several rows."""
    measured = {case: _UNKNOWN if least == inf else least for case, least in times.items()}
    return {(ROWS, size): ROWS * least for (_, size), least in measured.items()} | measured


def _times(model: NativeModel, rows: int, size: int, threads: int) -> tuple[float, float]:
    """The least milliseconds of drafting by the model's drafter and of the rest of a round; 0 for what was not measured."""
    sentences, decoding = _made_up(model, rows, size)
    return model.times(sentences, decoding, Resources(threads if rows == 1 else 1, shared_vocabulary=False), _ROUNDS[rows])


def _times_of_passes(model: NativeModel, rows: int, size: int, threads: int) -> tuple[float, float]:
    """The same of drafts that take no time."""
    sentences, decoding = _made_up(model, rows, size)
    recorded = {tuple(sentence.source): [[sentence.source[0]] * size] for sentence in sentences}
    resources = Resources(threads if rows == 1 else 1, shared_vocabulary=False, recorded=recorded if size else {})
    return model.times(sentences, replace(decoding, method="lookup" if size else "greedy"), resources, _ROUNDS[rows])


def _made_up(model: NativeModel, rows: int, size: int) -> tuple[list[Sentence], Decoding]:
    sources = made_up_sources(rows, min(model.config.source_size, model.config.vocabulary_size), model.config.eos)
    sentences = [Sentence(number, source) for number, source in enumerate(sources)]
    return sentences, Decoding(method="specdec" if size else "greedy", block_size=size, batch_size=rows, max_length=_ROUNDS[1] * (size + 1))


class DraftTrial:
    """A trial of drafts on this processor: sentences are decoded one by one, some without drafts and some with them, until it is clear
    whether drafts are faster. At first both are equally many; then three of four are of the kind that was faster so far. What it measures
    is kept from run to run in the file of `measurement`.
    """

    def __init__(self, measurement: CachedMeasurement) -> None:
        self._library, self._measurement = load_library(), measurement
        self.measured = measurement.read(_checked_trial) or HEADER.structs["trial"]()
        """The C structure of what was measured."""
        self._written = self._sentences

    @property
    def pays(self) -> bool | None:
        """Whether drafts pay; None if the trial is not at its end."""
        verdict = self._library.specdec_trial_verdict(ctypes.byref(self.measured))
        return verdict > 0 if verdict else None

    def go_on(self, measured: Any) -> None:
        """Replace what was measured by what a decoding added to it. It is written every 16 sentences (OFTEN), and at the end of the trial;
        fewer sentences at the end of a run are not kept.
        """
        if sum(measured.sentences) <= self._sentences:
            return  # another decoding at the same time has more
        self.measured = measured
        if self.pays is not None or self._sentences >= self._written + OFTEN:
            self._written = self._sentences
            self._measurement.write({name: list(value) if hasattr(value, "__len__") else value for name, value in _items(measured)})

    @property
    def _sentences(self) -> int:
        return sum(self.measured.sentences)


def _items(struct: Any) -> Iterator[tuple[str, Any]]:
    return ((name, getattr(struct, name)) for name, _ in struct._fields_)


def _checked_trial(values: dict[str, Any]) -> Any:
    """The C structure of a trial from its JSON object. Raises KeyError, TypeError or ValueError for other objects."""
    trial = HEADER.structs["trial"]()
    if values.keys() != {name for name, _ in _items(trial)}:
        raise KeyError("not the fields of a trial")
    for name, value in _items(trial):
        if hasattr(value, "__len__"):
            value[:] = values[name]
        else:
            setattr(trial, name, values[name])
    if any(not 0 <= number < _LARGEST for number in (*trial.sentences, *trial.tokens, *trial.milliseconds, trial.rounds)):
        raise ValueError("a number out of range")
    divisors = [(trial.sentences[1], trial.rounds), *zip([*trial.sentences] * 2, (*trial.tokens, *trial.milliseconds), strict=True)]
    if any(sentences and not measured for sentences, measured in divisors):
        raise ValueError("sentences without tokens, rounds or time")
    return trial


class NativeBlockSize:
    """The native engine's statistics for choosing the number of drafted tokens of each round, 1 to `longest`, at the
    given `costs` of rounds.

    They serve batches of at most `rows` rows in at most `workers` threads that decode a batch each, for one decoding
    at a time. With `may_skip`, sentences are decoded without drafts where that is faster: by the costs, or for sentences that are decoded
    one by one, by a trial that goes on from `trial`. `address` is the pointer of the C structure, for `Resources.adaptive`. Raises
    NativeError for values out of range.
    """

    def __init__(self, costs: Costs, longest: int, rows: int, workers: int, *, may_skip: bool, trial: Any = None) -> None:
        self._library = load_library()
        made, given = ctypes.c_void_p(), None if trial is None else ctypes.byref(trial)
        numbers = (longest, rows, workers, may_skip)
        check(self._library.specdec_adaptive_create(ctypes.byref(costs_struct(costs)), given, *numbers, ctypes.byref(made)))
        self.address = made

    @property
    def drafts(self) -> tuple[int, int]:
        """Rounds with a draft since construction, counted once for each row, and the total number of tokens that
        were drafted in them.
        """
        rounds, tokens = ctypes.c_int64(), ctypes.c_int64()
        self._library.specdec_adaptive_drafts(self.address, ctypes.byref(rounds), ctypes.byref(tokens))
        return rounds.value, tokens.value

    @property
    def trial(self) -> Any:
        """The C structure of what the trial has measured, with what it went on from."""
        trial = HEADER.structs["trial"]()
        self._library.specdec_adaptive_trial(self.address, ctypes.byref(trial))
        return trial

    def __del__(self) -> None:
        if hasattr(self, "address"):
            self._library.specdec_adaptive_destroy(self.address)


class SharedBlockSizes:
    """The statistics of several decodings that may run at the same time: each borrows one NativeBlockSize, made with these
    arguments, and decodings that run one after the other use the same one.
    """

    def __init__(self, costs: Costs, longest: int, rows: int, workers: int, *, may_skip: bool, trial: DraftTrial | None = None) -> None:
        self._costs, self._longest, self._rows, self._workers, self._may_skip = costs, longest, rows, workers, may_skip
        self._trial = trial
        self._all: list[NativeBlockSize] = []
        self._idle: list[NativeBlockSize] = []

    @contextmanager
    def borrow(self) -> Iterator[NativeBlockSize]:
        """Statistics that no other decoding uses inside the block."""
        try:
            sizes = self._idle.pop()
        except IndexError:
            trial = self._trial and self._trial.measured
            sizes = NativeBlockSize(self._costs, self._longest, self._rows, self._workers, may_skip=self._may_skip, trial=trial)
            self._all.append(sizes)
        try:
            yield sizes
        finally:
            self._idle.append(sizes)
            if self._trial is not None:
                self._trial.go_on(sizes.trial)

    @property
    def drafts(self) -> tuple[int, int]:
        """The sums of `NativeBlockSize.drafts` over all statistics; exact only while no decoding runs."""
        counts = [each.drafts for each in self._all]
        return sum(rounds for rounds, _ in counts), sum(tokens for _, tokens in counts)


def costs_struct(costs: Costs) -> Any:
    """Convert costs to the C structure of the native library."""
    struct = HEADER.structs["costs"](count=len(costs.sizes), plain=costs.plain)
    struct.sizes[: struct.count] = costs.sizes
    for to, part in ((struct.verifying, costs.verifying), (struct.drafting, costs.drafting)):
        for row, times in zip(to, part, strict=True):
            row[: struct.count] = times
    return struct
