"""Models that draft for another one in the native engine, and the functions by which their vocabularies meet."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from specdec_cli.decoding.bridge import Bridge
from specdec_cli.decoding.options import Constraints
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.native.library import HEADER
from specdec_cli.native.model import NativeModel, set_constraints

_SIZE, _ADDRESS = ctypes.c_int64, ctypes.c_void_p
_READ = ctypes.CFUNCTYPE(_SIZE, _ADDRESS, _SIZE, _ADDRESS, _SIZE)
"""`specdec_read` of specdec.h."""
_CONTINUE = ctypes.CFUNCTYPE(_SIZE, _ADDRESS, _SIZE, _ADDRESS, _SIZE, _ADDRESS, _SIZE, _ADDRESS, _SIZE)
"""`specdec_continue` of specdec.h."""


@dataclass(frozen=True)
class NativeDraftModel:
    """A model that drafts for another one: the `constraints` on its outputs, the `bridge` to its vocabulary, None if that is the same, and
    the longest source that it reads, in tokens.
    """

    model: NativeModel
    constraints: Constraints
    bridge: Bridge | None
    longest_source: int

    def sources(self, sentences: Sequence[Sentence]) -> list[Sequence[int]]:
        """The source ids of each sentence for the draft model; no ids for a sentence that it cannot read."""
        sources = [self._source(sentence) for sentence in sentences]
        return [source if len(source) <= self.longest_source else () for source in sources]

    def _source(self, sentence: Sentence) -> Sequence[int]:
        if self.bridge is None:
            return sentence.source
        return self.bridge.source(sentence.text) if sentence.text else ()

    def set_options(self, options: Any) -> None:
        """Set the draft model in the C structure of options; what it points to belongs to this object."""
        options.draft_model = self.model.address
        options.draft_constraints = ctypes.addressof(self._rules)
        if self.bridge is not None:
            options.read, options.continued = (ctypes.cast(each, _ADDRESS).value for each in self._functions)

    @cached_property
    def _rules(self) -> Any:
        return set_constraints(HEADER.structs["constraints"](), self.constraints)

    @cached_property
    def _functions(self) -> tuple[Any, Any]:
        assert self.bridge is not None
        bridge = self.bridge

        def read(output: int, length: int, ids: int, capacity: int) -> int:
            return _write(bridge.read(_ids(output, length)), ids, capacity)

        def continued(output: int, length: int, read: int, read_count: int, written: int, count: int, ids: int, capacity: int) -> int:
            return _write(bridge.continued(_ids(output, length), _ids(read, read_count), _ids(written, count)), ids, capacity)

        return _READ(read), _CONTINUE(continued)


def _ids(address: int, count: int) -> list[int]:
    return list((ctypes.c_int32 * count).from_address(address)) if count else []


def _write(ids: Sequence[int], address: int, capacity: int) -> int:
    """Write at most `capacity` ids to an address; return their number."""
    count = min(len(ids), capacity)
    if count > 0:
        (ctypes.c_int32 * count).from_address(address)[:] = list(ids[:count])
    return max(count, 0)
