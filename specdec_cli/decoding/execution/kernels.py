"""A round on a CPU, for a model in int8 and the exact rule: each of its steps is one call of the compiled kernels."""

import ctypes
import threading
import weakref
from dataclasses import dataclass
from typing import Self, cast

from specdec_cli.decoding.state import Accepted, Draft, State, Verdict
from specdec_cli.kernels.build import Kernels
from specdec_cli.kernels.structs import AT_ONCE, TILE, BatchStruct, DecoderStruct, DraftStruct, KeysStruct, VerdictStruct, describe_keys
from specdec_cli.model.int8.embedding import FusedEmbedding
from specdec_cli.model.int8.layers import Int8Layers
from specdec_cli.model.int8.linear import Int8Linear
from specdec_cli.model.transformer import Transformer

_NOT_FORCED = -1


@dataclass(frozen=True)
class CompiledVerdict(Verdict):
    """With the batch it is about and itself, as the kernels know them."""

    batch: BatchStruct
    described: VerdictStruct


class CompiledRounds:
    """Verifies with `model` and advances; every output begins with the token `forced`, if it is given."""

    def __init__(self, model: Transformer, kernels: Kernels, forced: int | None) -> None:
        layers, output = cast(Int8Layers, model.layers), cast(Int8Linear, model.output)
        embedding = cast(FusedEmbedding, model.embedding)
        self._parts = (layers, embedding, output)  # the kernels read what these own
        self._kernels, self._width, self._own = kernels, model.config.width, threading.local()
        first = _NOT_FORCED if forced is None else forced
        self._decoder = DecoderStruct(embedding.struct, layers.stack, output.address, model.config.eos, first)
        self._scratch, self._head = layers.scratch, 4 * (output.outputs + output.outputs // TILE + 1) + output.inputs + 8
        self._work = layers.work + output.inputs * output.outputs

    @classmethod
    def of(cls, model: Transformer, forced: int | None) -> Self | None:
        """For `model`, if it is one in int8 and the kernels can do all of it."""
        kernels = model.layers.kernels if isinstance(model.layers, Int8Layers) else None
        return None if kernels is None else cls(model, kernels, forced)

    def verify(self, state: State, draft: Draft, with_scores: bool) -> CompiledVerdict:
        """One pass over the last accepted token and the draft (B, k), and what it accepts."""
        ids, offered = draft.ids.contiguous(), draft.counts.contiguous()
        rows, longest = ids.shape
        slots = longest + 1
        states = state.memory.states.new_empty(rows, slots, self._width)
        predictions, bifurcation, counts = ids.new_empty(rows, slots), ids.new_empty(rows), ids.new_empty(rows)
        ended = state.finished.new_empty(rows)
        scores = state.log_probabilities.new_zeros(rows, slots) if with_scores else None
        found = VerdictStruct(
            states.data_ptr(),
            None if scores is None else scores.data_ptr(),
            predictions.data_ptr(),
            bifurcation.data_ptr(),
            counts.data_ptr(),
            ended.data_ptr(),
        )
        batch = self._described(state)
        positions = rows * slots
        self._kernels.verify(
            ctypes.byref(self._decoder),
            ctypes.byref(batch),
            ctypes.byref(DraftStruct(ids.data_ptr(), offered.data_ptr(), longest)),
            ctypes.byref(found),
            self._kernels.scratch(8 * (1 + rows + 4 * positions) + max(positions * self._scratch, min(positions, AT_ONCE) * self._head)),
            self._kernels.threads(positions * self._work),
        )
        accepted = Accepted(predictions, counts, bifurcation, predictions, offered)
        return CompiledVerdict(accepted, ended, states, scores, batch, found)

    def _described(self, state: State) -> BatchStruct:
        """The batch as the kernels know it; that of the last round if it is still the same."""
        last: weakref.ref[State] | None = getattr(self._own, "state", None)
        if last is None or last() is not state:
            keys_values, ends = state.memory.keys_values, state.memory.mask.ends
            self._own.memory = (KeysStruct * len(keys_values))(*(describe_keys(each, ends) for each in keys_values))
            self._own.batch = _describe(state, ctypes.addressof(self._own.memory))
            self._own.state = weakref.ref(state)
        batch: BatchStruct = self._own.batch
        return batch

    def advance(self, verdict: CompiledVerdict) -> int:
        """Take what was accepted into the state; the number of rows that are finished."""
        slots = verdict.accepted.predictions.shape[1]
        return self._kernels.advance(ctypes.byref(verdict.batch), ctypes.byref(verdict.described), slots)


def _describe(state: State, memory: int) -> BatchStruct:
    rows, capacity = state.tokens.shape
    return BatchStruct(
        rows,
        capacity,
        state.tokens.data_ptr(),
        state.lengths.data_ptr(),
        state.limits.data_ptr(),
        state.rounds.data_ptr(),
        state.finished.data_ptr(),
        state.log_probabilities.data_ptr(),
        describe_keys(state.cache.whole[:, :, 0], None),
        memory,
    )
