"""The models of the synthetic benchmark, with random weights, and what returns recorded drafts in place of those of their drafters."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tokenizers
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from specdec_cli.benchmark.geometries import Drafts, Geometry, piece
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.cache import steps
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.converted import ConvertedTokenizer, TokenizerConfig
from specdec_cli.text.tokenize.segmenters import TokenizersSegmenter
from specdec_cli.text.tokenize.sentencepiece import MASK_PIECE
from specdec_cli.text.tokenize.tokenizer import Tokenizer

_SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", MASK_PIECE)
_SEED = 1


def random_bundle(geometry: Geometry) -> Bundle:
    """A bundle of the geometry's shape with random weights from a fixed seed; it never emits EOS before the length limit.

    The bundle has a block drafter, unless the geometry's block size is 0.
    """
    torch.manual_seed(_SEED)
    verifier = Transformer(geometry.shape).eval()
    with torch.no_grad():
        # The logit of EOS is 0, and some other logit is always larger.
        verifier.output.weight[geometry.shape.eos] = 0.0
    drafter = None
    if geometry.block_size:
        layers, inner = geometry.drafter_layers, geometry.shape.feed_forward
        prefix, size, shortlist = geometry.drafter_prefix, geometry.block_size, geometry.shortlist
        shape = DrafterConfig(prefix=prefix, layers=layers, feed_forward=inner, max_block=size, shortlist=shortlist)
        drafter = BlockDrafter(shape, verifier).eval()
    tokenizer = _tokenizer(geometry.shape.vocabulary_size)
    return Bundle(BundleInfo(source_language="", target_language="", decoding="greedy"), tokenizer, verifier, drafter)


def _tokenizer(size: int) -> Tokenizer:
    """A tokenizer with a token for each word "t<id>"."""
    vocabulary = [*_SPECIAL, *(piece(token) for token in range(len(_SPECIAL), size))]
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: number for number, word in enumerate(vocabulary)}, "<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    config = TokenizerConfig("tokenizers", ("tokenizer.json",), unknown="<unk>", mask=MASK_PIECE, after=("</s>",))
    return ConvertedTokenizer(config, TokenizersSegmenter(words, config.files[0]), vocabulary, None, "", "", Path(config.files[0]))


RecordedState = tuple[Any, Tensor, Tensor]
"""The state of a RecordedDrafter for B rows: that of the wrapped drafter, and the prepared drafts of R rounds, padded to K tokens
(B, R, K), with their lengths (B, R).
"""


class RecordedDrafter:
    """A Drafter for timing: it runs `drafter`, so that its time is measured, but returns a draft that was recorded before.

    `drafts` has the drafts of each source, one for each round, by the ids of the source; `padding` is the padding id.
    """

    reads_sentences = True

    def __init__(self, drafter: Drafter, drafts: Drafts, padding: int) -> None:
        self._drafter, self._padding, self.capturable, self.limit = drafter, padding, drafter.capturable, drafter.limit
        self._drafts = {source: _stacked(rounds) for source, rounds in drafts.items()}

    def begin(self, state: State, sentences: Sequence[Sentence]) -> RecordedState:
        """Begin the sentences with the wrapped drafter, and return its state together with the drafts that were prepared for the sources.

        Raises KeyError if no drafts were prepared for one of the sources.
        """
        sources = [tuple(token for token in row if token != self._padding) for row in state.source.tolist()]
        ids, counts = zip(*(self._drafts[source] for source in sources), strict=True)
        device = state.source.device
        return self._drafter.begin(state, sentences), torch.stack(ids).to(device), torch.stack(counts).to(device)

    def propose(self, state: State, memory: RecordedState, size: int) -> Draft:
        """Let the wrapped drafter draft, for the time it takes; return the prepared draft (B, k) of each row's current round."""
        inner, ids, counts = memory
        self._drafter.propose(state, inner, size)
        rows, rounds = steps(len(state.rounds), state.rounds.device), state.rounds.clamp_max(ids.shape[1] - 1)
        return Draft(ids[rows, rounds], counts[rows, rounds])

    def observe(self, state: State, memory: RecordedState, verdict: Verdict) -> None:
        """Pass `state` and `verdict` to the wrapped drafter's `observe`."""
        self._drafter.observe(state, memory[0], verdict)


def _stacked(rounds: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Drafts as one tensor (R, K), and their lengths (R,)."""
    return pad_sequence([torch.tensor(draft, dtype=torch.long) for draft in rounds], batch_first=True), torch.tensor(list(map(len, rounds)))
