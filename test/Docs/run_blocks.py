"""Run the examples of a Markdown page: `run_blocks.py PAGE...`.

In a page,
  ```mlir file=NAME     the block is written to NAME in a fresh folder (any language, not just mlir)
  ```sh run             the block is run there by bash, stopping at the first failure
  ```... out            the block after it must be in what it printed, in order; `...` on a line of its own skips lines
and every other block is left alone. Blocks of a page share the folder. Prints what differs and exits 1 if anything did.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```", re.DOTALL | re.MULTILINE)


def find_missing(expected: list[str], printed: list[str]) -> str | None:
    """The first expected line that isn't where it should be: right after the last, or anywhere later after a `...`."""
    position, skipping = 0, True
    for line in expected:
        if line.strip() == "...":
            skipping = True
            continue
        places = range(position, len(printed)) if skipping else range(position, min(position + 1, len(printed)))
        found = next((i for i in places if printed[i].rstrip() == line.rstrip()), None)
        if found is None:
            return line
        position, skipping = found + 1, False
    return None


def run_page(page: pathlib.Path) -> list[str]:
    problems, printed, ran = [], "", 0
    text = page.read_text()
    with tempfile.TemporaryDirectory() as folder:
        for match in BLOCK.finditer(text):
            indent, _, marks, body = match.groups()
            body = "".join(line.removeprefix(indent) for line in body.splitlines(keepends=True))
            where = f"{page.name}:{text.count(chr(10), 0, match.start()) + 1}"
            if name := re.search(r"\bfile=(\S+)", marks):
                pathlib.Path(folder, name[1]).write_text(body)
            elif "run" in marks.split():
                ran += 1
                command = ["bash", "-eu", "-c", body]
                result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
                printed = result.stdout + result.stderr
                if result.returncode:
                    problems.append(f"{where}: exit status {result.returncode}\n{printed}")
            elif "out" in marks.split():
                missing = find_missing(body.splitlines(), printed.splitlines())
                if missing is not None:
                    problems.append(f"{where}: expected\n  {missing}\nin\n{printed}")
    if not ran:
        problems.append(f"{page.name}: no block to run")
    return problems


def main() -> int:
    problems = [problem for page in sys.argv[1:] for problem in run_page(pathlib.Path(page))]
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
