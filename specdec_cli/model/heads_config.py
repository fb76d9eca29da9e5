"""The configuration of the heads of blockwise parallel decoding."""

from dataclasses import dataclass
from typing import Annotated, Literal

from specdec_cli.errors import ModelError
from specdec_cli.fields import Between, StoredConfig, check_fields
from specdec_cli.model.config import FeedForward, TransformerConfig
from specdec_cli.model.drafter_config import Candidates, Reads, check_shortlist


@dataclass(frozen=True)
class HeadsConfig(StoredConfig):
    """Configuration of heads on the verifier's top states (Stern et al. 2018, Section 3).

    - `kind`: distinguishes heads from a block drafter.
    - `max_block`: the number of heads, which is the largest block size: K - 1 where the paper's K counts the verifier's prediction too.
    - `feed_forward`: the inner width of a head.
    - `chain`: width of the slot link, 0 for none, as in the paper.
    - `candidates`: number of tokens per slot among which the slot link chooses.
    - `shortlist`: drafts have only the tokens with ids below this number, which makes drafting with a large vocabulary faster;
      0 for all.
    - `start`: draft also before the first token, from the encoder's states; without it, as in the paper, a sentence's first round has
      no draft.
    """

    kind: Literal["heads"] = "heads"
    max_block: Annotated[int, Between(1, 256)] = 4
    feed_forward: FeedForward = 768
    chain: Annotated[int, Between(0, 2**14)] = 0
    candidates: Candidates = 8
    shortlist: Annotated[int, Between(0, 2**24)] = 0
    start: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        check_shortlist(self.shortlist, self.candidates)

    @property
    def reads(self) -> Reads:
        """What the heads need of the verifier: its top states ("states")."""
        return "states"

    @property
    def shortest_prefix(self) -> int:
        """The shortest prefix, in tokens, after which there are drafts: 0 with `start`; else 1, since no state predicts the first token."""
        return 0 if self.start else 1

    def check_against(self, verifier: TransformerConfig) -> None:
        """Raise ModelError if the number of candidates or the shortlist exceeds the vocabulary of `verifier`."""
        size = verifier.vocabulary_size
        for name in ("candidates", "shortlist"):
            if getattr(self, name) > size:
                raise ModelError(f"{name} is {getattr(self, name)}, but the verifier's vocabulary has {size} tokens")

    def fewest_weights(self, verifier: TransformerConfig) -> int:
        """A lower bound on the number of weights of heads for `verifier`: those of the heads' and the slot link's
        matrices.
        """
        return 2 * verifier.width * (self.max_block * self.feed_forward + self.chain)
