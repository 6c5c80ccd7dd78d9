"""Run external partitioning cases and fail if a case fails that conformance-known.txt does not list.

    conformance.py RUNNER --opt INLAY_OPT

Each line of the list names a case, with the reason after a `#`. A listed case that passes is an error too, so the list
only shrinks.
"""

import argparse
import pathlib
import re
import subprocess
import sys

KNOWN = pathlib.Path(__file__).with_name("conformance-known.txt")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner", type=pathlib.Path)
    parser.add_argument("--opt", required=True)
    args = parser.parse_args()
    lines = (line.split("#")[0].strip() for line in KNOWN.read_text().splitlines())
    known = {line for line in lines if line}

    command = [sys.executable, str(args.runner), "--opt", args.opt]
    output = subprocess.run(command, capture_output=True, text=True).stdout
    summary = re.search(r"^(\d+) passed, (\d+) failed$", output, re.MULTILINE)
    if not summary:
        print(output, f"expected the output of {args.runner} to end in 'N passed, N failed'", sep="\n")
        return 1
    failed = {line.split(":")[0]: line for line in output[: summary.start()].splitlines()}
    for case in sorted(failed.keys() - known):
        print(failed[case])
    for case in sorted(known - failed.keys()):
        print(f"{case}: passes, so remove it from {KNOWN.name}")
    excused = len(known & failed.keys())
    wrong = len(failed.keys() ^ known)
    total = int(summary[1]) + int(summary[2])
    print(f"{total - excused - wrong} passed, {wrong} failed, {excused} skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
