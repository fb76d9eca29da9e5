"""The native engine's memory of n-grams, which decoding "ngram-memory" drafts from."""

import ctypes

from specdec_cli.native.library import check, load_library


class NgramMemory:
    """Continuations of the tokens and pairs of tokens in all outputs decoded so far, for `workers` threads that decode
    a batch each; each thread has its own.

    The memory and its drafts are those of `decoding.drafters.suffix.NgramMemory`. One decoding at a time may use it.
    `address` is the pointer of the C structure, for `Request.memory`. Raises NativeError for values out of range.
    """

    def __init__(self, vocabulary_size: int, workers: int) -> None:
        self._library = load_library()
        made = ctypes.c_void_p()
        check(self._library.specdec_memory_create(vocabulary_size, workers, ctypes.byref(made)))
        self.address = made

    def __del__(self) -> None:
        if hasattr(self, "address"):
            self._library.specdec_memory_destroy(self.address)
