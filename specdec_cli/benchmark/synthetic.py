"""The synthetic benchmark: models of random weights, whose drafts are replaced by prepared ones that set the acceptance rate.

The drafter still computes its own drafts, so that the measured time is that of real decoding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from specdec_cli.benchmark.bundle_runner import BundleRunner
from specdec_cli.benchmark.geometries import Drafts, Geometry, piece, prepare_drafts
from specdec_cli.benchmark.rows import Row
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.bundle_info import BundleDescription
from specdec_cli.model.cache import steps
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.storage import save_weights
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.converted import ConvertedTokenizer, TokenizerConfig
from specdec_cli.text.tokenize.segmenters import TokenizersSegmenter
from specdec_cli.text.tokenize.sentencepiece import MASK_PIECE

_SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", MASK_PIECE)
_SEED = 1


def random_bundle(geometry: Geometry) -> Bundle:
    """A bundle of the geometry's shape with random weights from a fixed seed; it never emits EOS before the length limit.

    It has a block drafter unless the geometry's block size is 0.
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


def store(bundle: Bundle, folder: Path) -> BundleDescription:
    """Write the weights of `bundle` to `folder`, where the native engine loads them; return the bundle's description."""
    for name, module in (("verifier", bundle.verifier), ("drafter", bundle.drafter)):
        if module is not None:
            (folder / name).mkdir(parents=True)
            save_weights(module, folder / name / "model.safetensors", "float32")
    return BundleDescription(bundle.info, bundle.tokenizer, bundle.shape, bundle.drafter_config, folder / "bundle.json")


def _tokenizer(size: int) -> ConvertedTokenizer:
    """A tokenizer with a token for each word "t<id>"."""
    vocabulary = [*_SPECIAL, *(piece(token) for token in range(len(_SPECIAL), size))]
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: number for number, word in enumerate(vocabulary)}, "<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    config = TokenizerConfig("tokenizers", ("tokenizer.json",), unknown="<unk>", mask=MASK_PIECE, after=("</s>",))
    return ConvertedTokenizer(config, TokenizersSegmenter(words, config.files[0]), vocabulary, None, "", "", Path(config.files[0]))


class RecordedRunner(BundleRunner):
    """A BundleRunner that decodes only `sources`, and replaces drafts by prepared ones.

    They are made from the greedy outputs, such that every output takes the `rounds` of `geometry`.
    """

    def __init__(self, bundle: Bundle, geometry: Geometry, sources: Sequence[str]) -> None:
        super().__init__(bundle, split=False)
        outputs = self.run(Row("greedy").changed(max_length=geometry.length), sources).outputs
        self._drafts = prepare_drafts(bundle.tokenizer, geometry, sources, [output.sentences[0] for output in outputs])

    def engine(self, row: Row, lines: Sequence[str] = ()) -> Engine:
        """An engine for `row`; if the row drafts, its drafter is a RecordedDrafter."""
        engine = super().engine(row, lines)
        if row.drafts:
            engine.drafter = RecordedDrafter(engine.drafter, self._drafts, engine.verifier.config.padding)
        return engine


@dataclass
class RecordedState:
    """The state of a RecordedDrafter for B rows: `inner` is the state of the wrapped drafter.

    `ids` (B, R, K) are the prepared drafts of R rounds, padded to K tokens; `counts` (B, R) are their lengths.
    """

    inner: Any
    ids: Tensor
    counts: Tensor


class RecordedDrafter:
    """A Drafter that calls `drafter`, discards its draft, and returns a prepared one.

    `drafts` has the drafts of each source, one for each round, by the ids of the source; `padding` is the padding id.
    """

    def __init__(self, drafter: Drafter, drafts: Drafts, padding: int) -> None:
        self._drafter, self._padding, self.capturable, self.reads_sentences = drafter, padding, drafter.capturable, True
        self.limit = drafter.limit
        self._drafts = {source: _stacked(rounds) for source, rounds in drafts.items()}

    def begin(self, state: State, sentences: Sequence[Sentence]) -> RecordedState:
        """Call the wrapped drafter's `begin`; return its state with the prepared drafts of the rows' sources.

        Raises KeyError for a source without prepared drafts.
        """
        sources = [tuple(token for token in row if token != self._padding) for row in state.source.tolist()]
        ids, counts = zip(*(self._drafts[source] for source in sources), strict=True)
        device = state.source.device
        return RecordedState(self._drafter.begin(state, sentences), torch.stack(ids).to(device), torch.stack(counts).to(device))

    def propose(self, state: State, memory: RecordedState, size: int) -> Draft:
        """Let the wrapped drafter draft, for the time it takes; return the prepared draft (B, k) of each row's current round."""
        self._drafter.propose(state, memory.inner, size)
        rows, rounds = steps(len(state.rounds), state.rounds.device), state.rounds.clamp_max(memory.ids.shape[1] - 1)
        counts = memory.counts[rows, rounds]
        return Draft(memory.ids[rows, rounds], counts)

    def observe(self, state: State, memory: RecordedState, verdict: Verdict) -> None:
        """Pass `state` and `verdict` to the wrapped drafter's `observe`."""
        self._drafter.observe(state, memory.inner, verdict)


def _stacked(rounds: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Drafts as one tensor (R, K), and their lengths (R,)."""
    return pad_sequence([torch.tensor(draft, dtype=torch.long) for draft in rounds], batch_first=True), torch.tensor(list(map(len, rounds)))
