"""Construction of modules whose weights are loaded from a file."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.overrides import TorchFunctionMode

_DRAWING = ("uniform_", "normal_", "kaiming_uniform_")


class Uninitialized(TorchFunctionMode):
    """While active, skips random initialisation: tensors keep their uninitialized memory, which is not touched."""

    def __torch_function__(
        self, function: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """The result of `function`; if it draws random numbers, the unchanged tensor that it would fill."""
        named = kwargs or {}
        if function.__name__ in _DRAWING:
            return args[0] if args else named["tensor"]
        return function(*args, **named)
