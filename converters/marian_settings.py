"""The options of a Marian model, and the check that specdec supports them."""

from collections.abc import Mapping
from typing import Any

import yaml

from specdec_cli.errors import ModelError
from specdec_cli.model.config import Norm

ACTIVATIONS = {"swish": "silu", "relu": "relu"}
"""The supported activations: specdec's name by Marian's. Marian's gelu, x * sigmoid(1.702 x), differs from PyTorch's."""

_NEEDED = ("enc-depth", "dec-depth", "transformer-heads", "transformer-dim-ffn")
# The supported values of options, Marian's default first.
_EXPECTED: Mapping[str, tuple[Any, ...]] = {
    "type": ("transformer",),
    "transformer-decoder-autoreg": ("self-attention",),
    "transformer-ffn-activation": tuple(ACTIVATIONS),
    "transformer-ffn-depth": (2,),
    "transformer-decoder-ffn-depth": (0, 2),
    "transformer-no-projection": (False,),
    "transformer-no-bias": (False,),
    "transformer-no-affine": (False,),
    "transformer-pool": (False,),
    "transformer-tied-layers": ([], None),
    "transformer-train-position-embeddings": (False,),
    "transformer-train-positions": (False,),
    "right-left": (False,),
    "ulr": (False,),
    "ulr-dim-emb": (0,),
    "lemma-dim-emb": (0,),
    "factors-dim-emb": (0,),
}
# Operations before a layer, after a layer, and after the last layer, which determine the positions of the norms.
_OPERATIONS = {"transformer-preprocess": "", "transformer-postprocess": "dan", "transformer-postprocess-top": ""}
_EMBEDDED = "transformer-postprocess-emb"
_NORMS: Mapping[tuple[str, ...], Norm] = {("", "an", ""): "post", ("n", "a", "n"): "pre"}


def read_settings(text: bytes) -> dict[str, Any]:
    """Parse the options of a Marian model by name; `text` is the content of `special:model.yml`, which ends with a NUL byte.

    Raises ModelError if it is not a mapping in YAML.
    """
    try:
        found = yaml.safe_load(text.rstrip(b"\0").decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ModelError(f"its configuration is not readable as YAML ({error})") from error
    if not isinstance(found, dict):
        raise ModelError("its configuration is not a mapping of options")
    return {str(name): value for name, value in found.items()}


def check_supported(settings: Mapping[str, Any]) -> None:
    """Raise ModelError, naming each of them, if options of a Marian model are missing or not supported by specdec."""
    problems = [f"no {name}" for name in _NEEDED if not settings.get(name)]
    for name, known in _EXPECTED.items():
        if settings.get(name, known[0]) not in known:
            problems.append(f"{name} {settings[name]!r} (supported: {', '.join(map(repr, known))})")
    if norm(settings) is None:
        problems.append(f"the operations {', '.join(f'{name} {settings.get(name, default)!r}' for name, default in _OPERATIONS.items())}")
    if _without_dropout(settings, _EMBEDDED, "d") not in ("", "n"):
        problems.append(f"{_EMBEDDED} {settings[_EMBEDDED]!r}")
    sizes = settings.get("dim-vocabs") or [0, 0]
    if len(sizes) != 2:
        problems.append(f"{len(sizes)} vocabularies (supported: 2)")
    of_decoder, of_both = settings.get("transformer-decoder-dim-ffn"), settings.get("transformer-dim-ffn")
    if of_decoder and of_decoder != of_both:
        problems.append(f"feed-forward sizes that differ between encoder ({of_both}) and decoder ({of_decoder})")
    if problems:
        raise ModelError(f"not supported: {'; '.join(problems)}")


def norm(settings: Mapping[str, Any]) -> Norm | None:
    """The position of the layer norms in a Marian model: "pre" (before a sublayer) or "post" (after it); None for any other."""
    return _NORMS.get(tuple(_without_dropout(settings, name, default) for name, default in _OPERATIONS.items()))


def embedding_norm(settings: Mapping[str, Any]) -> bool:
    """Whether a layer norm follows the embeddings in a Marian model with these options."""
    return _without_dropout(settings, _EMBEDDED, "d") == "n"


def _without_dropout(settings: Mapping[str, Any], name: str, default: str) -> str:
    return str(settings.get(name, default) or "").replace("d", "")
