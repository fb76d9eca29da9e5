"""From options to a bundle that is ready to decode; what every decoding command does first."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from specdec_cli.errors import ModelError, UsageError

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle

SHIPPED = Path(__file__).parent.parent / "bundles"
RECIPES = Path(__file__).parent.parent / "recipes"


@dataclass(frozen=True)
class Machine:
    """Where and how numbers are computed, with every `auto` settled."""

    device: str
    precision: str
    threads: int


@dataclass(frozen=True)
class Choice:
    """Which model, for which languages where it knows several; `offline` forbids to fetch it, `quiet` to tell about it."""

    name: str
    source_language: str = ""
    target_language: str = ""
    offline: bool = False
    quiet: bool = False


def find_bundle(model: str | Choice) -> Path:
    """The folder of a bundle: a path, the name of one that ships, or what another toolkit's model was converted into.

    Raises ModelError saying which names there are.
    """
    chosen = Choice(model) if isinstance(model, str) else model
    folder = Path(chosen.name)
    if (folder / "bundle.json").exists():
        return folder
    if (SHIPPED / chosen.name / "bundle.json").exists():
        return SHIPPED / chosen.name
    from specdec_cli.commands.model_cache import converted

    found = converted(chosen)
    if found is not None:
        return found
    known = ", ".join(shipped_bundles()) or "none"
    what = "holds no bundle.json, nor another toolkit's model" if folder.is_dir() else "is no folder"
    raise ModelError(f"{chosen.name}: {what}, and no bundle of that name ships (there are: {known})")


def bundle_task(model: str | Choice) -> str:
    """The task that a bundle is for, without loading it. Raises ModelError."""
    from specdec_cli.files import read_json

    return str(read_json(find_bundle(model) / "bundle.json", ModelError).get("task", "translate"))


def beam_defaults(model: str | Choice) -> tuple[int, float]:
    """The beam size and the length penalty of a bundle, without loading it. Raises ModelError."""
    from specdec_cli.decoding.names import BEAM_SIZE
    from specdec_cli.files import read_json

    info = read_json(find_bundle(model) / "bundle.json", ModelError)
    return int(info.get("beam_size") or BEAM_SIZE), float(info.get("length_penalty", 1.0))


def shipped_bundles() -> list[str]:
    """The names of the bundles that ship."""
    return sorted(path.parent.name for path in SHIPPED.glob("*/bundle.json"))


def settle_machine(device: str, precision: str, threads: int | None, seed: int = 1, *, quiet: bool = True) -> Machine:
    """Choose device, precision, threads and seed, and tell torch. Raises UsageError for what this machine cannot do.

    Unless `quiet`, a line on stderr says so where int8 was asked for or preferred, and its compiled kernels are missing.
    """
    import torch

    torch.manual_seed(seed)

    if device == "cuda" and not torch.cuda.is_available():
        raise UsageError("--device cuda: no CUDA device is available")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if precision == ("float16" if device == "cpu" else "int8"):
        offered = "float32, bfloat16 and int8" if device == "cpu" else "float32, bfloat16 and float16"
        raise UsageError(f"--precision {precision} is not offered on {device}; {offered} are")
    if threads is not None:
        torch.set_num_threads(threads)
    torch.backends.cuda.matmul.allow_tf32 = False
    asked = precision
    if precision == "auto":
        precision = _best_precision(device)
    if not quiet and device == "cpu" and (asked == "auto" or precision == "int8"):
        _warn_without_kernels(precision)
    return Machine(device, precision, torch.get_num_threads())


def _warn_without_kernels(precision: str) -> None:
    from specdec_cli.kernels.build import kernels_or_reason

    found = kernels_or_reason()
    if found.kernels is None:
        effect = "int8 is slow, with the same output" if precision == "int8" else f"the precision is {precision}"
        print(f"specdec: no compiled kernels for int8: {found.reason}; {effect}", file=sys.stderr)


def _best_precision(device: str) -> str:
    """int8 where its compiled kernels are, else float32. Nothing is timed: what is printed must not depend on how busy a machine is."""
    from specdec_cli.kernels.build import load_kernels

    return "int8" if device == "cpu" and load_kernels() is not None else "float32"


def open_bundle(model: str | Choice, machine: Machine) -> "Bundle":
    """Load a bundle and move it to `machine`."""
    from specdec_cli.model.bundle import load_bundle

    chosen = Choice(model) if isinstance(model, str) else model
    return place(load_bundle(find_bundle(chosen), chosen.source_language, chosen.target_language), machine)


def place(bundle: "Bundle", machine: Machine) -> "Bundle":
    """Move a bundle to `machine`, in its precision. A drafter goes to bfloat16 where that is faster and costs no exactness."""
    import torch

    dtype = {"bfloat16": torch.bfloat16, "float16": torch.float16}.get(machine.precision, torch.float32)
    for module in (bundle.verifier, bundle.drafter):
        if module is not None:
            module.to(device=machine.device, dtype=dtype)
            for weight in module.parameters():
                weight.requires_grad_(False)
    if machine.precision == "int8":
        from specdec_cli.kernels.build import load_kernels
        from specdec_cli.model.int8 import quantize

        quantize(bundle.verifier, load_kernels(), bundle.drafter)
    elif bundle.drafter is not None and machine.device == "cpu" and _multiplies_bfloat16():
        bundle.drafter.lower_precision(torch.bfloat16)
    return bundle


def _multiplies_bfloat16() -> bool:
    import torch

    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def find_recipe(name: str | None) -> Path | None:
    """The file of a recipe: a path, or the name of one that ships. Raises UsageError saying which names there are."""
    if name is None or Path(name).exists():
        return None if name is None else Path(name)
    shipped = RECIPES / f"{name}.toml"
    if not shipped.exists():
        known = ", ".join(sorted(path.stem for path in RECIPES.glob("*.toml")))
        raise UsageError(f"--recipe {name}: no such file, and none of the recipes that ship: {known}")
    return shipped
