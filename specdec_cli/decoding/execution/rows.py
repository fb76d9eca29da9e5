"""Exchange of rows: new sentences take the places of finished ones."""

from specdec_cli.decoding.state import Batch
from specdec_cli.model.rows import keep_rows, replace_rows


def exchange_compactly(batch: Batch, entering: Batch | None) -> Batch:
    """Replace finished rows of `batch` by the rows of `entering` (None: no rows), remove the other finished rows,
    and return the batch.

    The tensors of `batch` are overwritten in place.
    """
    free = batch.state.finished.nonzero()[:, 0]
    taken = 0 if entering is None else len(entering.state.lengths)
    if entering is not None:
        batch = replace_rows(batch, free[:taken], entering)
    return batch if taken == len(free) else keep_rows(batch, ~batch.state.finished)


class CompactRows:
    """A way to keep the rows of a batch: finished rows leave it at once, so that it has no empty rows."""

    empty = 0

    def begin(self, batch: Batch) -> Batch:
        return batch

    def exchange(self, batch: Batch, entering: Batch | None) -> Batch:
        return exchange_compactly(batch, entering)
