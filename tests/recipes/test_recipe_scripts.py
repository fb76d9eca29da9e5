"""Every shipped recipe script runs from end to end, with tiny models and tiny text."""

import json
import lzma
import random
import shlex
import shutil
from pathlib import Path

import pytest

from specdec_cli.model.bundle import load_bundle
from specdec_cli.text.edits import Edit
from tests.recipes.sentences import english_sentences
from tests.source import ROOT
from tools.consoles import Shell


def test_the_script_of_the_translator_runs(shell: Shell, tmp_path: Path) -> None:
    pairs = _write_parallel_text(tmp_path / "text")
    _run_script(shell, "en-de.sh", tmp_path)
    counts = json.loads((tmp_path / "work" / "data" / "prepare.json").read_text(encoding="utf-8"))["pairs"]
    assert counts["dropped"] == {"held out": 5} and counts["kept"] == len(pairs) - 5
    made = load_bundle(tmp_path / "work" / "en-de")
    assert made.drafter is not None
    assert made.info.decoding == "specdec"


@pytest.mark.long
def test_the_script_of_the_opposite_direction_runs(shell: Shell, tmp_path: Path) -> None:
    pairs = _write_parallel_text(tmp_path / "text")
    _run_script(shell, "en-de.sh", tmp_path)
    (tmp_path / "work").rename(tmp_path / "opposite")
    english = sorted({pair.split("\t")[0] for pair in pairs})
    with lzma.open(tmp_path / "text" / "mono.en.tsv.xz", "wt", encoding="utf-8") as stream:
        stream.writelines(f"wikinews\t{line} and {english[place - 1]}\n" for place, line in enumerate(english))
    _run_script(shell, "de-en.sh", tmp_path, INIT=str(tmp_path / "opposite" / "en-de"))
    work = tmp_path / "work"
    assert (work / "dev.chat.tsv").read_text(encoding="utf-8").splitlines()[0].split("\t") == pairs[0].rstrip("\n").split("\t")[::-1]
    trained = [line.split("\t") for line in (work / "data" / "train.tsv").read_text(encoding="utf-8").splitlines()]
    back = {target for domain, _, target in trained if domain == "back-translation"}
    assert len(back) > 50 and all(" and " in target for target in back)
    assert {target for domain, _, target in trained if domain != "back-translation"} == {pair.split("\t")[0] for pair in pairs[5:]}
    made, opposite = load_bundle(work / "de-en"), load_bundle(tmp_path / "opposite" / "en-de")
    assert (made.info.source_language, made.info.target_language, made.info.decoding) == ("de", "en", "specdec")
    assert made.drafter is not None and made.verifier.config == opposite.verifier.config


def _write_parallel_text(folder: Path) -> list[str]:
    """Write training text and two dev sets of the first five pairs; return all pairs, as lines of TSV."""
    generator = random.Random(0)
    english, german = ("red green house river old new man sun", "rot gruen haus fluss alt neu mann sonne")
    words = dict(zip(english.split(), german.split(), strict=True))
    sources = sorted({tuple(generator.choices(list(words), k=generator.randint(1, 4))) for _ in range(400)})
    pairs = [f"{' '.join(source)}\t{' '.join(words[word] for word in source)}\n" for source in generator.sample(sources, len(sources))]
    folder.mkdir()
    for name, domain, some in (("train", "tatoeba", pairs[5::2]), ("train2", "manual-one", pairs[:5] + pairs[6::2])):
        with lzma.open(folder / f"{name}.tsv.xz", "wt", encoding="utf-8") as stream:
            stream.writelines(f"{domain}\t{pair}" for pair in some)
    for name in ("tatoeba", "chat"):
        (folder / f"dev.{name}.tsv").write_text("".join(pairs[:5]), encoding="utf-8")
    return pairs


@pytest.mark.long
def test_the_script_of_the_corrector_runs(shell: Shell, bundle_folder: Path, tmp_path: Path) -> None:
    sentences = english_sentences(60) + [f"I agree that she is {n} years old, and I want to see her." for n in range(20, 40)]
    (tmp_path / "text").mkdir()
    with lzma.open(tmp_path / "text" / "clean.tsv.xz", "wt", encoding="utf-8") as stream:
        stream.writelines(f"{'tatoeba' if place % 3 else 'wikinews'}\t{line}\n" for place, line in enumerate(sentences))
    edited = (f"{line.replace('the', 'teh')}\t{line}\n" for line in sentences[:20])
    (tmp_path / "text" / "pairs.eracond.tsv").write_text("".join(edited), encoding="utf-8")
    (tmp_path / "text" / "dev.web.m2").write_text(
        "S The old dog drive .\nA 0 5|||R|||" + sentences[3].replace(".", " .") + "|||-|||-|||0\n"
    )
    (tmp_path / "text" / "dev.essays").mkdir()
    (tmp_path / "text" / "dev.essays" / "reference0").write_text(sentences[4].upper() + "\n")
    (tmp_path / "other.txt").write_text(sentences[62] + "\n")
    (tmp_path / "more.txt").write_text("Only the n-grams have this.\nNow the n-grams have this.\n")
    (tmp_path / "words.txt").write_text("have\n")
    further = {"LEXICON": str(tmp_path / "words.txt"), "HELD_OUT": str(tmp_path / "other.txt"), "NGRAM_TEXT": str(tmp_path / "more.txt")}
    _run_script(shell, "en-gec.sh", tmp_path, INIT=str(bundle_folder), **further)
    for name, dropped in (("data", {3, 4, 62}), ("chat", {3, 4}), ("learners", {3, 4, 62}), ("few", {3, 4, 62}), ("text", {3, 4, 62})):
        trained = [line.split("\t")[-1] for line in (tmp_path / "work" / name / "train.tsv").read_text(encoding="utf-8").splitlines()]
        assert trained and not {sentences[place] for place in dropped} & set(trained), name
    assert sentences[5] in (tmp_path / "work" / "data" / "train.tsv").read_text(encoding="utf-8")
    assert len((tmp_path / "work" / "patterns" / "train.tsv").read_text(encoding="utf-8").splitlines()) > 10_000
    made = load_bundle(tmp_path / "work" / "en-gec")
    shipped = load_bundle(ROOT / "specdec_cli" / "bundles" / "en-gec").info
    for key in ("task", "decoding", "modes", "margins", "offsets", "max_pieces"):
        assert getattr(made.info, key) == getattr(shipped, key), key
    assert made.lexicon is not None and made.lexicon.words == {"have"}
    assert made.ngrams is not None
    assert made.ngrams.log_ratio("Only the n-grams has this.", Edit(17, 20, "has", "have")) > 0


def test_the_script_of_the_chinese_corrector_runs(shell: Shell, bundle_folder: Path, tmp_path: Path) -> None:
    generator = random.Random(0)
    clean = ["".join(generator.choices("我你他在家学校看书买菜的了很好天早晚", k=generator.randint(5, 12))) + "。" for _ in range(80)]
    references = ("没有错误" if i % 5 == 0 else f"{line}\t{line}好" for i, line in enumerate(clean))
    pairs = [
        f"{line if i % 5 == 0 else line[1:]}\t{reference}\n" for i, (line, reference) in enumerate(zip(clean, references, strict=True))
    ]
    (tmp_path / "text").write_text("".join(pairs), encoding="utf-8")
    _run_script(shell, "zh-gec.sh", tmp_path, INIT=str(bundle_folder))
    work = tmp_path / "work"
    trained, held_out = ((work / name).read_text(encoding="utf-8").splitlines() for name in ("clean.txt", "test.tsv"))
    assert {clean[0], clean[2], f"{clean[2]}好", clean[10]} <= set(trained) and not set(trained) & set(clean[1::2])
    assert held_out[0] == pairs[1].rstrip("\n") and held_out[7] == f"{clean[15]}\t{clean[15]}"
    assert load_bundle(work / "zh-gec").info.target_language == "zh"
    rows = json.loads((work / "zh-gec.json").read_text(encoding="utf-8"))["rows"]
    assert [row["decoding"] for row in rows] == ["greedy", "beam", "input-guided"]
    assert rows[0]["identical"] == rows[2]["identical"] == [40, 40] and rows[0]["f05"] is not None


@pytest.mark.long
def test_the_script_of_the_papers_runs_and_continues(shell: Shell, tmp_path: Path) -> None:
    text = tmp_path / "text"
    (text / "en-de").mkdir(parents=True)
    (text / "en-gec").mkdir()
    sentences = english_sentences(400)
    with lzma.open(text / "en-de" / "train.tsv.xz", "wt", encoding="utf-8") as stream:
        stream.writelines(f"news\t{line}\t{line.replace('the', 'das')}\n" for line in sentences)
    (text / "en-de" / "dev.news.tsv").write_text("A b.\tC d.\n", encoding="utf-8")
    (text / "en-gec" / "dev.web.m2").write_text(f"S {sentences[1]}\n", encoding="utf-8")
    with lzma.open(text / "en-gec" / "clean.tsv.xz", "wt", encoding="utf-8") as stream:
        stream.writelines(f"news\t{line}\n" for line in sentences)
    _run_script(shell, "papers.sh", tmp_path, STAGES="left-to-right raw deep-shallow")
    trained = tmp_path / "work" / "raw" / "verifier" / "model.safetensors"
    before = trained.stat().st_mtime_ns
    _run_script(shell, "papers.sh", tmp_path)
    assert trained.stat().st_mtime_ns == before
    gec = (tmp_path / "work" / "gec-data" / "train.tsv").read_text(encoding="utf-8")
    assert sentences[2] in gec and sentences[1] not in gec
    folders = {path.parent.name for path in (tmp_path / "work").glob("*/bundle.json")}
    assert folders == {path.stem for path in (tmp_path / "work" / "done").iterdir()}
    assert {"bidirectional", "masked", "blockwise", "gad", "gad-quick", "gad-big", "gec-deep", "vocabulary-4000-bidirectional"} <= folders


def _run_script(shell: Shell, name: str, folder: Path, **variables: str) -> None:
    """Run a recipe script with TRIAL=1, from `folder`/text to `folder`/work."""
    if missing := [tool for tool in ("bash", "xzcat", "awk") if shutil.which(tool) is None]:
        pytest.skip(f"{', '.join(missing)} not installed")
    command = f"{shlex.quote(str(ROOT / 'specdec_cli' / 'recipes' / name))} text work"
    done = shell.run(f"bash {command}", folder, longest=1200.0, **variables, TRIAL="1", OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stdout
