"""Exchange of rows: new sentences take the places of finished ones."""

from specdec_cli.decoding.state import State
from specdec_cli.model.rows import keep_rows, replace_rows


def exchange_compactly(state: State, entering: State | None) -> State:
    """Replace finished rows of `state` by the rows of `entering` (None: no rows), remove the other finished rows,
    and return the batch.

    The tensors of `state` are overwritten in place.
    """
    free = state.finished.nonzero()[:, 0]
    taken = 0 if entering is None else len(entering.lengths)
    if entering is not None:
        state = replace_rows(state, free[:taken], entering)
    return state if taken == len(free) else keep_rows(state, ~state.finished)


class CompactRows:
    """A way to keep the rows of a batch: finished rows leave it at once, so that it has no empty rows."""

    empty = 0

    def begin(self, state: State) -> State:
        return state

    def exchange(self, state: State, entering: State | None) -> State:
        return exchange_compactly(state, entering)
