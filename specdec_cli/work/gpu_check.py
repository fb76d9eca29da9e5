"""The work of `specdec bench --check-device`: the check of a GPU, which needs the library for training too."""

from pathlib import Path

from specdec_cli.benchmark.check_gpu import OUT, check_device
from specdec_cli.benchmark.options import BenchOptions
from specdec_cli.console.reports import teller
from specdec_cli.errors import SpecdecError, UsageError
from specdec_cli.files import check_target
from specdec_cli.opening.models import TRANSLATOR, chosen_translator, find_bundle
from specdec_cli.text.io.writing import check_not_input


def check_gpu(text: Path | None, asked: BenchOptions) -> None:
    """Check the GPU, and raise SpecdecError if something is not as it should be."""
    if asked.models and len(asked.models) > 1:
        raise UsageError("--check-device checks one model; give --model once")
    out = asked.json_file or OUT
    check_target(out)
    if text is not None:
        check_not_input(out, [text])
    model = chosen_translator(asked.models[0] if asked.models else TRANSLATOR, offline=asked.offline)
    if not check_device(find_bundle(model, teller(asked.quiet)), text, asked.limit, out, asked.device):
        raise SpecdecError(f"--check-device: not all is as it should be; see {out}")
