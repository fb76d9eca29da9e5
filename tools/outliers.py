"""What int8 costs a model with outliers, such as those of the T5 family.

    python -m tools.outliers plant BUNDLE OUTPUT --factor 30    a bundle of the same function, with large activations
    python -m tools.outliers compare BUNDLE LINES --blocks 512:outer

`plant` multiplies units of the inner layers and rows of the values of attention by a factor, and divides the weights that read them. Only
functions that commute with a factor are between the two: ReLU, the half of a gated layer without an activation, and the mean of values. A
factor below 1 makes large weights of them instead. `--equalise` balances the ranges afterwards, as a conversion from another toolkit does.

`compare` decodes LINES greedily in float32 and in int8, and counts equal outputs. The difference of logits is that along the outputs of
float32. `--blocks N` simulates int8 with a range for each N inputs in place of one for a row, `N:NAME` in the products of that name alone
(inner, outer, output, ..), and 0 stands for a row; these are simulations in float32, so that their rounding is not that of the engine.
"""

import argparse
import copy
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from converters.conversion import Conversion
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import make_sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import ModelError, SpecdecError, UsageError
from specdec_cli.files import new_folder
from specdec_cli.model.attention import Attention
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.layers import FeedForward
from specdec_cli.model.network import TorchNetwork
from specdec_cli.model.transformer import Transformer
from specdec_cli.opening.choice import ModelChoice
from specdec_cli.opening.conversions import load_checkpoint
from specdec_cli.opening.engines import open_for_loop
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import find_bundle
from specdec_cli.processors import keep_order_of_sums
from specdec_cli.text.io.lines import read_text_lines

PLACES = ("inner", "values")


@torch.no_grad()
def plant(model: Transformer, factor: float, share: float, places: Sequence[str] = PLACES, seed: int = 0) -> int:
    """Multiply a `share` of the units of each layer, at least one, by `factor` in place; return their number in the model.

    `places` are "inner" (units of feed-forward layers) and "values" (of attention). Raises UsageError for a factor or a share that is not
    positive, and ModelError for inner layers with an activation that does not commute with a factor.
    """
    if not (factor > 0 and 0 < share <= 1):
        raise UsageError("the factor must be greater than 0, and the share greater than 0 and at most 1")
    draw = torch.Generator().manual_seed(seed)
    count = 0
    for module in model.modules():
        if isinstance(module, FeedForward) and "inner" in places:
            if not module.gated and module.activation_name != "relu":
                raise ModelError(f"a unit behind {module.activation_name} cannot be multiplied without another function; leave inner out")
            count += _scale(module.inner, module.outer, factor, share, draw)
        elif isinstance(module, Attention) and "values" in places:
            values = module.query_key_value if hasattr(module, "query_key_value") else module.key_value
            count += _scale(values, module.output, factor, share, draw)
    return count


def _scale(writer: nn.Linear, reader: nn.Linear, factor: float, share: float, draw: torch.Generator) -> int:
    """Multiply some of the last outputs of `writer`, which are the inputs of `reader`, by `factor`; return their number."""
    inputs = reader.in_features
    chosen = torch.randperm(inputs, generator=draw)[: max(1, round(share * inputs))]
    rows = chosen + writer.out_features - inputs
    writer.weight[rows] *= factor
    if writer.bias is not None:
        writer.bias[rows] *= factor
    reader.weight[:, chosen] /= factor
    return len(chosen)


class SimulatedInt8(nn.Module):
    """A linear layer whose inputs and weights are rounded as in int8, with a range for each `block` inputs of a row (0: for the row)."""

    def __init__(self, linear: nn.Linear, block: int) -> None:
        super().__init__()
        self.block, self.bias = block or linear.in_features, linear.bias
        self.weight = torch.cat([_rounded_weights(part) for part in torch.split(linear.weight.detach(), self.block, -1)], -1)

    def forward(self, x: Tensor) -> Tensor:
        """The outputs (..., N) of inputs (..., M)."""
        return F.linear(torch.cat([_rounded_inputs(part) for part in torch.split(x, self.block, -1)], -1), self.weight, self.bias)


def _rounded_weights(weights: Tensor) -> Tensor:
    scales = (weights.abs().amax(-1, keepdim=True) / 127).clamp_min(1e-12)
    return (weights / scales).round() * scales


def _rounded_inputs(x: Tensor) -> Tensor:
    low = x.amin(-1, keepdim=True)
    step = ((x.amax(-1, keepdim=True) - low) / 255).clamp_min(1e-30)
    return ((x - low) / step).round() * step + low


def simulated(model: Transformer, blocks: str) -> Transformer:
    """A copy of `model` with the products of SimulatedInt8; `blocks` is N or N:NAME. Raises UsageError for something else."""
    size, _, only = blocks.partition(":")
    if not size.isdigit():
        raise UsageError(f"--blocks {blocks}: a number is expected, with the name of products behind a colon or without")
    rounded = copy.deepcopy(model)
    products = [(name, module) for name, module in rounded.named_modules() if isinstance(module, nn.Linear)]
    if only and not any(name.rpartition(".")[2] == only for name, _ in products):
        raise UsageError(f"--blocks {blocks}: the model has no product of that name")
    for name, module in products:
        owner, _, own = name.rpartition(".")
        setattr(rounded.get_submodule(owner), own, SimulatedInt8(module, int(size) if own == only or not only else 0))
    return rounded


@dataclass(frozen=True)
class Compared:
    """How many of the outputs for `lines` lines are those of float32, and how far logits are from those of float32: the root of the mean
    square, and the largest difference.
    """

    name: str
    equal: int
    lines: int
    mean: float
    largest: float


@torch.inference_mode()
def compare(folder: Path, lines: Sequence[str], blocks: Sequence[str] = (), longest: int = 128) -> Iterator[Compared]:
    """Decode `lines` greedily in float32, in int8, and in simulated int8 with one range per block of inputs; compare with float32."""
    exact = load_checkpoint(folder)
    networks = {"int8": open_for_loop(ModelChoice(str(folder)), MachineOptions(device="cpu", precision="int8"))}
    networks |= {f"blocks {each}": Bundle(exact.info, exact.tokenizer, simulated(exact.verifier, each)) for each in blocks}
    expected = _greedy(exact, lines, longest)
    logits = [_logits(exact, line, ids) for line, ids in zip(lines, expected, strict=True)]
    for name, bundle in networks.items():
        found = _greedy(bundle, lines, longest)
        own = (_logits(bundle, line, ids) for line, ids in zip(lines, expected, strict=True))
        differences = torch.cat([(theirs - ours).flatten() for theirs, ours in zip(logits, own, strict=True)])
        equal = sum(ours == theirs for ours, theirs in zip(found, expected, strict=True))
        yield Compared(name, equal, len(lines), float(differences.square().mean().sqrt()), float(differences.abs().max()))


def _greedy(bundle: Bundle, lines: Sequence[str], longest: int) -> list[list[int]]:
    engine = Engine(bundle, resolve(DecodingOptions(decoding="greedy", max_length=longest), bundle))
    sentences = [make_sentence(bundle.tokenizer, bundle.shape.eos, number, line) for number, line in enumerate(lines)]
    found = {output.number: list(output.ids) for output in engine.decode(sentences)}
    return [found[number] for number in range(len(lines))]


def _logits(bundle: Bundle, line: str, ids: Sequence[int]) -> Tensor:
    """The logits (T, V) at the positions of the output `ids` for a line."""
    network, tokenizer = bundle.network or TorchNetwork(bundle.verifier), bundle.tokenizer
    memory = network.encode(torch.tensor([tokenizer.add_special_tokens(tokenizer.encode(line))]))
    return network.project(network.teach(memory, torch.tensor([[bundle.shape.decoder_start, *ids[:-1]]])))[0]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.outliers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    planting, comparing = commands.add_parser("plant"), commands.add_parser("compare")
    for each in (planting, comparing):
        each.add_argument("bundle", help="the folder of a bundle, or the name of a shipped one")
    planting.add_argument("output", type=Path, help="the folder of the new bundle, which does not exist yet")
    planting.add_argument("--factor", type=float, default=30, help="factor of the chosen units (default: %(default)s)")
    planting.add_argument("--share", type=float, default=0.01, help="share of the units of each layer (default: %(default)s)")
    planting.add_argument("--places", nargs="+", choices=PLACES, default=PLACES, help="which units (default: both)")
    planting.add_argument("--seed", type=int, default=0, help="for the choice of units (default: %(default)s)")
    planting.add_argument("--equalise", action="store_true", help="balance the ranges of units for int8")
    comparing.add_argument("lines", type=Path, help="text, a sentence on each line")
    comparing.add_argument("--count", type=int, help="lines that are read (default: all)")
    comparing.add_argument("--blocks", action="append", default=[], metavar="N[:NAME]", help="simulate int8 with ranges for N inputs")
    chosen = parser.parse_args(arguments)
    keep_order_of_sums()
    try:
        if chosen.command == "compare":
            lines = [line for line in read_text_lines(chosen.lines) if line.strip()][: chosen.count]
            for found in compare(find_bundle(chosen.bundle), lines, chosen.blocks):
                logits = f"logits differ by {found.mean:.4f} (root mean square), at most {found.largest:.3f}"
                print(f"{found.name}: {found.equal} of {found.lines} outputs equal to float32's; {logits}", flush=True)
            return
        with new_folder(chosen.output, "bundle.json", force=False) as partial:
            bundle = load_checkpoint(find_bundle(chosen.bundle))
            count = plant(bundle.verifier, chosen.factor, chosen.share, chosen.places, chosen.seed)
            if chosen.equalise:
                conversion = Conversion(bundle)
                conversion.equalise()
                conversion.joined()
            if bundle.drafter is not None:
                bundle.drop_drafter()
            save_bundle(bundle, partial)
        print(f"{chosen.output}: {count} units times {chosen.factor:g}")
    except SpecdecError as error:
        sys.exit(f"error: {chosen.bundle}: {error}")


if __name__ == "__main__":
    main()
