"""A checkpoint of the size of OPUS-MT (75 million weights): its conversion, what is kept of it, and how it starts again."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
huggingface = pytest.importorskip("tests.converters.huggingface", reason="transformers is not installed")

SHAPE: dict[str, Any] = huggingface.SHAPE | {
    "d_model": 512,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "encoder_ffn_dim": 2048,
    "decoder_ffn_dim": 2048,
    "max_position_embeddings": 512,
    "init_std": 0.05,
}
LONGEST = 24
TEXTS = ("kalo mita resu", "no pe difo", "ta re su mi")
MB = 2**20
PROGRAM = """
import atexit, sys
from specdec_cli.processors import peak_resident_mb
from specdec_cli.__main__ import main
atexit.register(lambda: print("peak", peak_resident_mb(), file=sys.stderr))
main()
"""


def run(model: Path, cache: Path, *arguments: str) -> tuple[list[str], float]:
    """Run `specdec translate` on TEXTS in a new process. Return its output lines and its peak resident memory in bytes."""
    command = ["translate", "-m", str(model), "--raw", "--max-length", str(LONGEST), "--threads", "1", *arguments]
    environment = os.environ | {"SPECDEC_CACHE": str(cache), "OMP_NUM_THREADS": "1"}
    text = "".join(f"{text}\n" for text in TEXTS)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command], input=text, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), float(done.stderr.split()[-1]) * MB


@pytest.mark.long
def test_a_checkpoint_of_the_size_of_opus_mt(tmp_path: Path) -> None:
    torch.manual_seed(0)
    (tmp_path / "saved").mkdir()
    made = huggingface.marian(tmp_path / "saved", shape=SHAPE, rows=58_101)
    checkpoint, cache = (made.folder / "model.safetensors").stat().st_size, tmp_path / "cache"
    assert checkpoint > 4 * 70_000_000
    first, converting = run(made.folder, cache)
    again, started = run(made.folder, cache)
    assert first == again and len(again) == len(TEXTS)
    assert converting < 1.25 * checkpoint + 400 * MB
    assert started < 250 * MB
    (kept,) = (cache / "models").glob("[!.]*")
    assert sum(file.stat().st_size for file in kept.rglob("*") if file.is_file()) < 0.3 * checkpoint

    exact, _ = run(made.folder, cache, "--precision", "float32", "--decoding", "greedy")
    with torch.inference_mode():
        outputs = [
            made.model.generate(torch.tensor([made.encode(text)]), num_beams=1, do_sample=False, max_new_tokens=LONGEST)[0]
            for text in TEXTS
        ]
    tokenizer = transformers.MarianTokenizer.from_pretrained(made.folder)
    assert exact == [tokenizer.decode(ids, skip_special_tokens=True) for ids in outputs]
