"""Modules whose weights are about to come from a file."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.overrides import TorchFunctionMode

_DRAWING = ("uniform_", "normal_", "kaiming_uniform_")


class Uninitialized(TorchFunctionMode):
    """While it lasts no numbers are drawn: what would be filled with them stays as it is, memory that costs nothing untouched."""

    def __torch_function__(
        self, function: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """What `function` returns; if it draws numbers, the tensor to be filled, unchanged."""
        named = kwargs or {}
        if function.__name__ in _DRAWING:
            return args[0] if args else named["tensor"]
        return function(*args, **named)
