"""Means of the weights of bundles."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle, load_bundle, save_bundle
from specdec_cli.model.bundle_edits import Share, average
from specdec_cli.model.drafter import make_drafter
from specdec_cli.model.drafter_config import DrafterConfig


def save(bundle: Bundle, folder: Path, times: float = 1, drafter: bool = False) -> Path:
    """Save `bundle` with its weights multiplied, and with a drafter if wanted."""
    save_bundle(bundle, folder)
    changed = load_bundle(folder)
    if drafter:
        torch.manual_seed(0)
        changed.drafter = make_drafter(DrafterConfig(layers=1, feed_forward=32), changed.verifier)
    with torch.no_grad():
        # A drafter holds weights of its verifier; each is multiplied once.
        for parameter in {*changed.verifier.parameters(), *(changed.drafter.parameters() if changed.drafter else ())}:
            parameter.mul_(times)
    save_bundle(changed, folder)
    return folder


@pytest.mark.parametrize(("shares", "factor"), [(["2"], 1.5), (["2*0.25"], 1.25), (["2*0.5", "3*0.25"], 2.0)])
def test_weights_are_averaged(shares: list[str], factor: float, bundle: Bundle, tmp_path: Path) -> None:
    one = load_bundle(save(bundle, tmp_path / "1", 1, drafter=True))
    for times in (2, 3):
        save(bundle, tmp_path / f"{times}", times, drafter=True)
    mean = load_bundle(tmp_path / "1")
    average(mean, [Share.parse(str(tmp_path / text)) for text in shares])
    for part in ("verifier", "drafter"):
        before, after = getattr(one, part).state_dict(), getattr(mean, part).state_dict()
        for name, value in before.items():
            torch.testing.assert_close(after[name], value * factor if value.is_floating_point() else value)


def test_a_drafter_that_others_lack_is_dropped(bundle: Bundle, tmp_path: Path) -> None:
    mean = load_bundle(save(bundle, tmp_path / "1", drafter=True))
    mean.info = replace(mean.info, decoding="specdec", block_size=3)
    average(mean, [Share(save(bundle, tmp_path / "2"), 0.5)])
    assert mean.drafter is None
    assert (mean.info.decoding, mean.info.block_size) == ("auto", 0)


def test_shares_beyond_the_whole_are_refused(bundle: Bundle, tmp_path: Path) -> None:
    folder = save(bundle, tmp_path / "1")
    with pytest.raises(UsageError, match="below 1"):
        average(load_bundle(folder), [Share(folder, 0.5), Share(folder, 0.5)])
    for text in ("x*0", "x*1", "x*1.2.3"):
        with pytest.raises(UsageError, match="between 0 and 1"):
            Share.parse(text)


def test_other_shapes_and_tokenizers_are_refused(bundle: Bundle, make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    folder = save(bundle, tmp_path / "1")
    wide = save(make_bundle(width=16), tmp_path / "wide")
    with pytest.raises(ModelError, match="wide: its layers and sizes"):
        average(load_bundle(folder), [Share(wide, 0.5)])
    in_memory = replace(load_bundle(folder), path=None)
    with pytest.raises(ModelError, match="its tokenizer"):
        average(in_memory, [Share(folder, 0.5)])
