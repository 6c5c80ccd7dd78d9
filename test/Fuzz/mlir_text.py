# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutated MLIR text and PDL patterns for inlay-opt.

The seeds are the modules of the tests in this tree. They run through the passes of their own RUN lines or through any
pass of ours, with random options.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import random
import re
import shlex
import subprocess
import tempfile

from campaign import Campaign, Kind, Outcome, run_limited

TEST = pathlib.Path(__file__).parents[1]
SEPARATOR = "\n// -----\n"
NUMBERS = ["0", "1", "-1", "2", "7", "65536", "2147483648", "9223372036854775807", "-9223372036854775808", "1e30"]
TYPES = ["f32", "f64", "f16", "bf16", "i1", "i8", "i32", "i64", "index", "ui8", "complex<f32>", "none", "vector<4xf32>"]
SHAPES = ["", "0x", "1x", "4x", "?x", "?x?x", "2x3x", "*x", "9223372036854775807x", "4294967296x4294967296x"]
BATCH = 8  # modules per process


@dataclasses.dataclass(frozen=True)
class Seed:
    text: str
    pipelines: tuple[tuple[str, ...], ...]


@functools.cache
def read_seeds(glob: str = "**/*.mlir") -> list[Seed]:
    """Returns the modules of tests, with the options of inlay-opt in their RUN lines that name no file."""
    seeds = []
    for path in sorted(TEST.glob(glob)):
        text = path.read_text()
        if len(text) > 60_000 or "/Fuzz/" in str(path):
            continue
        lines = re.findall(r"RUN:.*?inlay-opt ([^|\n]*)", text)
        found = [[word for word in split(line) if word.startswith("--")] for line in lines]
        usable = tuple(
            tuple(words)
            for words in found
            if words and not any(re.search("%|file|help|version", word) for word in words)
        )
        seeds += [Seed(part, usable) for part in text.split("// -----") if "\n" in part.strip()]
    return seeds


def split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


@functools.cache
def read_passes(opt: str) -> dict[str, list[tuple[str, list[str]]]]:
    """Returns our passes with their options, each with the values that an enumeration has."""
    text = subprocess.run([opt, "--help"], capture_output=True, text=True, check=True).stdout
    passes: dict[str, list[tuple[str, list[str]]]] = {}
    current: list[tuple[str, list[str]]] | None = None
    for line in text.splitlines():
        if named := re.match(r" {6}--([\w-]+)\s", line):
            is_ours = named[1].startswith("inlay-")
            current = passes.setdefault(named[1], []) if is_ours else None
        elif (option := re.match(r" {8}--([\w-]+)(=<[\w ,.]+>)?", line)) and current is not None:
            kind = option[2] or "=<bool>"
            current.append((option[1], {"=<bool>": ["true", "false"], "=<string>": ["?"]}.get(kind, NUMBERS[:6])))
        elif (value := re.match(r" {4}=([\w-]+)", line)) and current:
            name, values = current[-1]
            current[-1] = (name, [*(one for one in values if one not in NUMBERS), value[1]])
    return passes


def make_pipeline(rng: random.Random, opt: str, words: list[str]) -> list[str]:
    """Returns one to three passes with random options. words: values for options of strings."""
    passes = read_passes(opt)
    flags = []
    for name in rng.sample(sorted(passes), rng.choice((1, 1, 2, 3))):
        options = []
        for option, values in passes[name]:
            if option in ("output", "report", "trace", "save-placement", "file") or rng.random() < 0.7:
                continue
            value = rng.choice(values)
            options.append(f"{option}={rng.choice(words) if value == '?' else value}")
        flags.append(f"--{name}" + (f"={' '.join(options)}" if options else ""))
    return flags


def replace_one(rng: random.Random, text: str, pattern: str, choices: list[str]) -> str:
    """Replaces one match of a pattern by one of `choices`."""
    found = list(re.finditer(pattern, text))
    if not found or not choices:
        return text
    match = rng.choice(found)
    return text[: match.start()] + rng.choice(choices) + text[match.end() :]


def change_lines(rng: random.Random, text: str, other: str) -> str:
    """Deletes, doubles, moves or inserts a line."""
    lines = text.splitlines()
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    choice = rng.randrange(4)
    if choice == 0:
        del lines[at]
    elif choice == 1:
        lines.insert(to, lines[at])
    elif choice == 2:
        lines.insert(to, lines.pop(at))
    else:
        lines.insert(to, rng.choice(other.splitlines() or [""]))
    return "\n".join(lines)


def change_characters(rng: random.Random, text: str) -> str:
    """Deletes, doubles or replaces a few characters."""
    at = rng.randrange(len(text))
    length = rng.choice((1, 1, 2, 5, 20))
    piece = text[at : at + length]
    filler = rng.choice(["", piece * 2, piece[::-1], chr(rng.randrange(1, 0x250)), "(", ">", "{}", "[]", '"'])
    return text[:at] + filler + text[at + length :]


def mutate(rng: random.Random, text: str, other: str) -> str:
    """Returns `text` with one to four changes, some of them with parts of `other`."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not text.strip():
            return text
        values, ops = r"%[\w#]+", r"(?<![\w.])[a-z_]+\.[a-z_.]+"
        choice = rng.randrange(9)
        if choice == 0:
            text = replace_one(rng, text, r"(?<![\w%@x])-?\d+(?![\w.x])", NUMBERS)
        elif choice == 1:
            text = replace_one(rng, text, r"(?<=x)[a-z]+\d+(?=[>,])|(?<=: )[a-z]+\d+", TYPES)
        elif choice == 2:
            text = replace_one(rng, text, r"(?<=tensor<)(?:[\d?]+x)*|(?<=memref<)(?:[\d?]+x)*", SHAPES)
        elif choice == 3:
            text = replace_one(rng, text, values, re.findall(values, text))
        elif choice == 4:
            text = replace_one(rng, text, ops, re.findall(ops, text + other))
        elif choice == 5:
            text = replace_one(rng, text, r"\w+ = [\w\[\]<>:., -]+(?=[,}])", re.findall(r"\w+ = [^,}\n]+", other))
        elif choice == 6:
            text = change_characters(rng, text)
        else:
            text = change_lines(rng, text, other)
    return text


def judge(opt: str, flags: list[str], text: str) -> tuple[Outcome, str]:
    """Runs modules through passes. What was accepted must be valid when it is read again."""
    flags = [*flags, "--split-input-file", "--allow-unregistered-dialect"]
    outcome, output = run_limited([opt, *dict.fromkeys(flags)], text)
    if outcome.kind is not Kind.ACCEPTED:
        return outcome, output
    again, _ = run_limited([opt, "--split-input-file", "--allow-unregistered-dialect"], output)
    if again.kind is Kind.REFUSED:
        return Outcome(Kind.WRONG, f"invalid output with exit code 0: {again.text}"), output
    return again if again.kind.is_finding else outcome, output


def reduce(opt: str, flags: list[str], text: str, outcome: Outcome) -> str:
    """Removes lines as long as the finding stays the same, for at most 60 runs."""
    lines, size, runs = text.splitlines(), max(len(text.splitlines()) // 2, 1), 0
    while size and runs < 60:
        at = 0
        while at < len(lines) and runs < 60:
            shorter = lines[:at] + lines[at + size :]
            runs += 1
            if judge(opt, flags, "\n".join(shorter))[0].key == outcome.key:
                lines = shorter
            else:
                at += size
        size //= 2
    return "\n".join(lines)


def step(rng: random.Random, campaign: Campaign, opt: str) -> None:
    """Runs a batch of mutated modules through one pipeline. Runs them one by one if the batch breaks it."""
    first = rng.choice(read_seeds())
    words = re.findall(r"[\w.]+", first.text)[:200] or [""]
    own = bool(first.pipelines) and rng.random() < 0.6
    flags = list(rng.choice(first.pipelines)) if own else make_pipeline(rng, opt, words)
    alike = [seed for seed in read_seeds() if own and flags in [list(each) for each in seed.pipelines]] or [first]
    texts = []
    for _ in range(BATCH):
        seed = rng.choice(alike) if own else rng.choice(read_seeds())
        texts.append(mutate(rng, seed.text, rng.choice(read_seeds()).text))
    outcome, _ = judge(opt, flags, SEPARATOR.join(texts))
    campaign.counts[Kind.REFUSED] += BATCH - 1  # most modules of a batch are refused
    if not outcome.kind.is_finding:
        return campaign.note(outcome, "", ".mlir")
    for text in texts:
        single, _ = judge(opt, flags, text)
        if single.kind.is_finding and single.key not in campaign.findings:
            reduced = reduce(opt, flags, text, single)
            campaign.note(single, f"// inlay-opt {shlex.join(flags)}\n{reduced}\n", ".mlir")
    return None


def step_patterns(rng: random.Random, campaign: Campaign, opt: str) -> None:
    """Applies a mutated file of patterns to a module."""
    files = [seed for seed in read_seeds() if "pdl.pattern" in seed.text]
    files += [Seed(path.read_text(), ()) for path in sorted((TEST / "Rewrite" / "Inputs").glob("*.mlir"))]
    patterns = mutate(rng, rng.choice(files).text, rng.choice(files).text)
    module = rng.choice([seed for seed in read_seeds("Rewrite/*.mlir") if "inlay." in seed.text]).text
    options = [f"check={rng.choice(('off', 'registration', 'each'))}", f"driver={rng.choice(('fixpoint', 'sweep'))}"]
    with tempfile.NamedTemporaryFile("w", suffix=".pdl.mlir", errors="surrogateescape") as file:
        file.write(patterns)
        file.flush()
        flags = [f"--inlay-rewrite=patterns={file.name} {' '.join(options)}"]
        outcome, _ = judge(opt, flags, module)
    if outcome.kind.is_finding:
        outcome = Outcome(outcome.kind, outcome.text.replace(file.name, "PATTERNS"))
    case = f"// inlay-opt --inlay-rewrite='patterns=PATTERNS {' '.join(options)}'\n{module}\n// PATTERNS:\n{patterns}"
    campaign.note(outcome, case, ".mlir")
