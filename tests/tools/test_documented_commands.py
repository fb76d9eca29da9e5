"""Every command of the pages runs and writes the shown output."""

import re
from pathlib import Path

import pytest

from tools.consoles import HUB, TRIALS, Block, Command, Shell, as_trial, read_blocks, run, with_outputs
from tools.pages import pages

PAGE = Path("page.md")
_GENERATED = re.compile(r"<!-- generated: .*?<!-- end of generated part -->", re.DOTALL)
_TEXT_BLOCK = re.compile(r"^```(?:text|sh|bash|shell)\n(.+?)^```$", re.DOTALL | re.MULTILINE)
TEXT = """\
Text.

```console
$ one \\
    two
out 1
out 2
$ three
```

```console trial
$ make it
```
"""


NOT_RUN = {
    "text lines -> sentences": "a diagram",
    "price =": "a formula",
    "head$  ray start": "needs two machines; tests/cluster starts a cluster on one",
    "INIT=BUNDLE UPDATES=1200 papers.sh": "trains for hours",
    "$ specdec serve --words words.txt": "a server that is not ended; tests/server makes these requests",
    "pip install 'specdec[research]'": "needs a model of the hub; tests/benchmark and tests/commands/bench measure a small one",
    "specdec bench --check-device": "needs a GPU; tests/kernels/test_check_gpu.py imitates one",
    "specdec bench --device cuda": "needs a GPU and a model of the hub; tests/recipes/test_other_models.py makes this table of small ones",
    "torchrun --standalone --nproc-per-node 8": "needs eight GPUs; tests/commands/training runs it with two processes",
}
"""The beginnings of blocks of text that are written by hand, and why they are not run; all other commands are in console blocks."""


USUAL = ("README.md", "correcting.md", "translating.md", "decoding.md")
"""The pages whose commands `make test` runs."""
PAGES = [pytest.param(page, marks=() if page.name in USUAL else pytest.mark.long, id=page.name) for page in pages()]


@pytest.mark.parametrize("page", PAGES)
def test_commands_write_the_shown_output(page: Path, shell: Shell) -> None:
    text = page.read_text(encoding="utf-8")
    if any(name in text for name in HUB):
        pytest.importorskip("transformers", reason="transformers is not installed")
    problems = [ran.problem for ran in run(page, text, shell) if ran.problem is not None]
    assert not problems, "\n\n".join(problems)


def test_every_trial_matches_a_command_of_a_page() -> None:
    commands = [c.text for page in pages() for b in read_blocks(page, page.read_text(encoding="utf-8")) if b.trial for c in b.commands]
    applied = {as_trial(command).removeprefix(command) for command in commands}
    assert applied - {""} == {appended for _, _, appended in TRIALS if appended}


def test_blocks_of_text_hold_no_other_commands() -> None:
    texts = [_GENERATED.sub("", page.read_text(encoding="utf-8")) for page in pages()]
    blocks = [found[1] for text in texts for found in _TEXT_BLOCK.finditer(text)]
    reasons = {block: [start for start in NOT_RUN if block.startswith(start)] for block in blocks}
    assert [block for block, starts in reasons.items() if not starts] == []
    assert {start for starts in reasons.values() for start in starts} == set(NOT_RUN)


def test_blocks_are_parsed_with_their_outputs() -> None:
    first, second = read_blocks(PAGE, TEXT)
    assert first == Block(PAGE, (Command("one \\\n    two", "out 1\nout 2\n", 4), Command("three", "", 8)), False)
    assert second == Block(PAGE, (Command("make it", "", 12),), True)
    assert as_trial("make it") == "make it -n"
    assert with_outputs(TEXT, ["new\n", None, None]) == TEXT.replace("out 1\nout 2\n", "new\n")


@pytest.mark.parametrize("text", ["```console\nout\n```\n", "```console nonsense\n$ one\n```\n"])
def test_malformed_blocks_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"page.md:\d"):
        read_blocks(PAGE, text)


def test_failing_commands_and_other_output_are_problems(shell: Shell) -> None:
    text = "```console\n$ specdec models nothing\n$ echo a\nb\n$ echo a\na\n```\n"
    problems = [ran.problem for ran in run(PAGE, text, shell)]
    assert problems[2] is None
    assert problems[0] is not None and "exit code 3" in problems[0]
    assert problems[1] is not None and "shown:\nb" in problems[1]
