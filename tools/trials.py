"""Small versions of the commands in the pages, which are run instead: with tiny models, few lines and no network."""

import re
from collections.abc import Sequence

SHAPE = "model.width=32 model.feed_forward=64 model.heads=2 model.encoder_layers=1 model.decoder_layers=1"
RUN = "run.max_updates=60 run.batch_tokens=256 run.evaluate_every=30 run.precision=32-true optimizer.learning_rate=1e-2 optimizer.warmup=20"
FEW_UPDATES = "run.max_updates=2 run.batch_tokens=64 run.evaluate_every=2 run.precision=32-true"
DRAFTER = "drafter.feed_forward=64 drafter.max_block=3"


def _set(*changes: str) -> str:
    return "".join(f" --set {change}" for changed in changes for change in changed.split())


TRIALS: Sequence[tuple[str, str, str]] = (
    # The beginning of a command, a part of it, and the options that are appended.
    ("make", "", " -n"),
    ("pip install", "", " --help"),
    ("specdec serve", "", " --help"),
    (".venv/bin/pytest", "", " --collect-only"),
    ("specdec train-verifier", "--init en-gec", _set(FEW_UPDATES)),
    ("specdec train-verifier", "--init work", _set(RUN)),
    ("specdec train-verifier", "", _set(SHAPE, RUN)),
    ("specdec train-drafter", "--simulate", ""),
    ("specdec train-drafter", "", _set(DRAFTER, FEW_UPDATES)),
    ("specdec bench", "--synthetic", " --help"),
    ("specdec bench", "--tune", " --help"),
    ("specdec bench", "--row", " --limit 2 --repetitions 1"),
    ("specdec bench", "--task correct", " --row greedy --row input-guided --limit 2 --repetitions 1"),
    ("specdec bench", "", " --row greedy --limit 2 --repetitions 1"),
    ("specdec visualize", "--file", " --limit 2"),
)
"""Entries (beginning of a command, a part of it, options to append); of those that match a command, the first is applied."""


def as_trial(command: str) -> str:
    """`command` with the options of the first matching entry of TRIALS appended; unchanged if none matches."""
    for start, part, appended in TRIALS:
        if re.match(rf"{start}\b", command) and part in command:
            return command + appended
    return command
