"""Static cache of the keys and values of a decoder's prefix."""

from dataclasses import dataclass, field
from functools import cache
from typing import Protocol, Self

import torch
from torch import Tensor

from specdec_cli.model.attention import Mask, PrefixMask, additive_mask
from specdec_cli.model.rows import UNINITIALIZED


class KeyStore(Protocol):
    """Protocol: stores the keys and values of a pass, and returns all keys and values that its queries may attend
    to.
    """

    def write(self, keys_values: Tensor) -> Tensor:
        """Store the keys and values (B, Q, 2, H, D) of this pass; return all stored keys and values (B, S, 2, H, D)."""


@dataclass
class LayerCache:
    """The cache of one layer for one pass.

    `store` is (B, S, 2, H, D). `slots` (B * Q,) are the flat indices that this pass writes, row * S + position. `orders` are those of
    the Cache. `read` is the number of indices of a row that attention reads (0: all).
    """

    store: Tensor
    slots: Tensor
    orders: Tensor | None = None
    read: int = 0

    def write(self, keys_values: Tensor) -> Tensor:
        """Store keys and values (B, Q, 2, H, D) at the positions of this pass, in place; return those that attention reads (B, `read`,
        2, H, D).
        """
        self.store.flatten(0, 1).index_copy_(0, self.slots, keys_values.flatten(0, 1))
        return self.store[:, : self.read or None]


@cache
def steps(number: int, device: torch.device) -> Tensor:
    """The integers from 0 to `number` - 1 (number,); a cached tensor, which must not be written to."""
    return torch.arange(number, device=device)


@dataclass
class Cache:
    """Keys and values (B, S, L, 2, H, D) of L layers, for B rows of up to S positions.

    It stores no lengths: positions from a row's length on hold finite values of no meaning, which the mask hides. So
    tokens are removed by using a smaller length, without a change of the cache.

    The K hypotheses of a sentence may share a row. Then hypothesis k writes its position p to index p * K + k of the row, which has K * S
    of them, and `orders` (B, K, S) tells for each hypothesis which one wrote each position of its prefix. So hypotheses are
    exchanged by changing `orders`, without copying a key. The Q queries of a pass are the hypotheses' own ones, one hypothesis after the
    other.
    """

    whole: Tensor = field(metadata=UNINITIALIZED)
    orders: Tensor | None = None

    @classmethod
    def empty(cls, layers: int, rows: int, capacity: int, heads: int, head_width: int, like: Tensor, *, masked: bool = True) -> Self:
        """A cache without keys, of the type and on the device of `like`.

        With `masked` it is zeroed, because attention reads all positions and 0 * NaN is NaN; otherwise it is
        uninitialized.
        """
        shape = (rows, capacity, layers, 2, heads, head_width)
        return cls(like.new_zeros(shape) if masked else like.new_empty(shape))

    @property
    def capacity(self) -> int:
        """The number of positions per row, S."""
        return self.whole.shape[1] if self.orders is None else self.orders.shape[2]

    def at(self, positions: Tensor, read: int = 0) -> list[LayerCache]:
        """Return a LayerCache for each layer, which stores keys and values at `positions` (B, Q) of this cache. Attention reads the keys of
        the first `read` positions (0: of all).
        """
        slots, hypotheses = self._slots(positions), 1 if self.orders is None else self.orders.shape[1]
        return [LayerCache(store, slots, self.orders, read * hypotheses) for store in self.whole.unbind(2)]

    def write(self, positions: Tensor, keys_values: Tensor) -> None:
        """Store the keys and values (B, Q, L, 2, H, D) of all layers at `positions` (B, Q), in place."""
        self.whole.flatten(0, 1).index_copy_(0, self._slots(positions), keys_values.flatten(0, 1))

    def places(self, positions: Tensor) -> Tensor:
        """The indices (B, Q) within its row at which the keys of each query at `positions` (B, Q) are kept."""
        if self.orders is None:
            return positions
        hypotheses = self.orders.shape[1]
        themselves = steps(hypotheses, positions.device).repeat_interleave(positions.shape[1] // hypotheses)
        return positions * hypotheses + themselves

    def mask(self, ends: Tensor, dtype: torch.dtype, read: int) -> Mask:
        """A mask by which each query sees the first `ends` (B, Q) positions of its row, or of its hypothesis, among the first `read`."""
        if self.orders is None:
            return PrefixMask(ends, read, dtype)
        hypotheses, positions = self.orders.shape[1], read
        written = self.orders[..., :read].repeat_interleave(ends.shape[1] // hypotheses, dim=1)
        seen = (written[..., None] == steps(hypotheses, ends.device)) & (steps(positions, ends.device) < ends[..., None])[..., None]
        return additive_mask(seen.flatten(2), dtype)[:, None]

    def _slots(self, positions: Tensor) -> Tensor:
        rows = steps(positions.shape[0], positions.device)[:, None]
        return torch.add(self.places(positions), rows, alpha=self.whole.shape[1]).flatten()
