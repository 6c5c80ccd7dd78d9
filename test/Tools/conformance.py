"""Run the outside partitioning cases and fail if a case falls short that is not on the list of known ones.

    conformance.py RUNNER --opt INLAY_OPT

The list is conformance-known.txt beside this file: a case name a line, with what it lacks after a `#`. A listed case
that now passes is an error too, so that the list only shrinks.
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
        print(output, f"expected {args.runner} to close with 'N passed, N failed'", sep="\n")
        return 1
    failed = {line.split(":")[0]: line for line in output[: summary.start()].splitlines()}
    for case in sorted(failed.keys() - known):
        print(failed[case])
    for case in sorted(known - failed.keys()):
        print(f"{case}: passes now: take it off {KNOWN.name}")
    excused = len(known & failed.keys())
    wrong = len(failed.keys() ^ known)
    total = int(summary[1]) + int(summary[2])
    print(f"{total - excused - wrong} passed, {wrong} failed, {excused} skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
