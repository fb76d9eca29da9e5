"""Construction of modules without random initial weights, for weights that are loaded from a file."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.overrides import TorchFunctionMode

_DRAWING = ("uniform_", "normal_", "kaiming_uniform_")


class Uninitialized(TorchFunctionMode):
    """A context in which random initialisation is skipped, so that new tensors keep uninitialized memory."""

    def __torch_function__(
        self, function: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call `function` and return its result; if it would fill a tensor with random numbers, return the tensor
        unchanged instead.
        """
        named = kwargs or {}
        if function.__name__ in _DRAWING:
            return args[0] if args else named["tensor"]
        return function(*args, **named)
