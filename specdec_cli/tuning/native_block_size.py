"""Adaptive number of drafted tokens in the native engine: as in adaptive_block_size.py, which chooses the same."""

import ctypes

from specdec_cli.native.library import CostsStruct, check, load_library
from specdec_cli.tuning.round_costs import Costs


class NativeBlockSize:
    """Statistics from which the engine chooses the number of drafted tokens, 1 to `longest`, at the given `costs`.

    They serve batches of at most `rows` in at most `workers` workers, one decoding at a time. With `may_skip`, sentences are not
    drafted while drafts do not pay. `address` is that of the structure. Raises NativeError for values out of range.
    """

    def __init__(self, costs: Costs, longest: int, rows: int, workers: int, *, may_skip: bool) -> None:
        self._library = load_library()
        made = ctypes.c_void_p()
        check(
            self._library.specdec_adaptive_create(ctypes.byref(costs_struct(costs)), longest, rows, workers, may_skip, ctypes.byref(made))
        )
        self.address = made

    @property
    def drafts(self) -> tuple[int, int]:
        """Rounds with a draft, counted for each row, and the tokens that were drafted in them."""
        rounds, tokens = ctypes.c_int64(), ctypes.c_int64()
        self._library.specdec_adaptive_drafts(self.address, ctypes.byref(rounds), ctypes.byref(tokens))
        return rounds.value, tokens.value

    def __del__(self) -> None:
        if hasattr(self, "address"):
            self._library.specdec_adaptive_destroy(self.address)


def costs_struct(costs: Costs) -> CostsStruct:
    """Costs as the library takes them."""
    pair = ctypes.c_double * 2
    verifying, drafting = ((pair * 2)(*(pair(*times) for times in part)) for part in (costs.verifying, costs.drafting))
    return CostsStruct(*costs.sizes, pair(*costs.plain), verifying, drafting)
