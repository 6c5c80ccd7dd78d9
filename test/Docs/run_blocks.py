"""Run the examples of a Markdown page: `run_blocks.py PAGE...`.

The word after the language of a block says how the block is used:
  ```mlir file=NAME     writes the block, in any language, to the file NAME in a new folder
  ```sh run             runs the block there with bash, which stops at the first command that fails
  ```text out           expects these lines in the output of the last block that ran, in order; a line `...` skips lines
Other blocks are ignored. The blocks of a page share the folder. Prints the differences and exits with 1 if there are
any.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```", re.DOTALL | re.MULTILINE)


def find_missing(expected: list[str], printed: list[str]) -> str | None:
    """Returns the first expected line that is missing, or None if all are there.

    A line must follow the one before it, unless `...` stands between them: then it may follow anywhere later.
    """
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
