# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `python -m inlay_runtime`.

python -m inlay_runtime generate model.inlay --prompt "Once upon a time" --tokenizer tokenizer.json
"""

from __future__ import annotations

import argparse
import sys

from .generation import Piece, stream
from .library import Error, version
from .program import load


def main() -> int:
    """Runs the command. Returns its exit status."""
    options = vars(_parser().parse_args())
    del options["command"]
    program, device, key = options.pop("program"), options.pop("device"), options.pop("public_key")
    prompt, prompt_ids = options.pop("prompt"), options.pop("prompt_ids")
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    try:
        pieces = stream(load(program, device=device, public_key=key), prompt_ids if prompt is None else prompt, **given)
        for number, piece in enumerate(pieces):
            print(_spell(piece, number), end="", flush=True)
    except (Error, TypeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print()
    return 0


def _spell(piece: Piece, number: int) -> str:
    """Returns a new token for the output: its text, or numbers that are separated by commas without a tokenizer."""
    return piece.text if piece.text is not None else f"{',' if number else ''}{piece.token}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m inlay_runtime", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=version())
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    command = commands.add_parser("generate", help="generate text with a language model", allow_abbrev=False)
    prompt, add = command.add_mutually_exclusive_group(required=True), command.add_argument
    add("program", help="the file that save() of a model of inlay.generation.compile wrote")
    prompt.add_argument("--prompt", help="text, which needs --tokenizer")
    prompt.add_argument("--prompt-ids", type=_tokens, metavar="1,2,3", help="tokens instead of text")
    add("--tokenizer", help="a tokenizer.json; needs the package tokenizers. Without it the output is tokens")
    add("--max-new-tokens", type=int, metavar="N", help="default: until the text ends or the cache is full")
    add("--do-sample", action="store_true", help="draw tokens by their probabilities")
    add("--temperature", type=float, metavar="X")
    add("--top-k", type=int, metavar="N")
    add("--top-p", type=float, metavar="X")
    add("--repetition-penalty", type=float, metavar="X")
    add("--seed", type=int, metavar="N")
    add("--stop", action="append", metavar="TEXT", help="end after this text; may be given several times")
    add("--ignore-eos", action="store_true", help="go on after tokens that end a text")
    add("--device", help='a Vulkan device: a number, a part of its name, or "none"')
    add("--public-key", metavar="FILE", help="the key that must verify the signature of the file")
    return parser


def _tokens(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected tokens, such as 1,2,3, but got {text!r}") from None


if __name__ == "__main__":
    sys.exit(main())
