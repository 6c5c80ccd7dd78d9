# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check that a guide lists the rules of the libraries: `rule_table.py GUIDE LIBRARY...`.

The row of a rule is its label and the comment above it. Prints the rows that are missing and the rows without a rule.
"""

import pathlib
import re
import sys

RULE = re.compile(r"^// (.+)\npdl\.pattern @(\w+) ", re.MULTILINE)


def rows(library):
    text = pathlib.Path(library).read_text()
    found = RULE.findall(text)
    assert len(found) == text.count("pdl.pattern @"), f"{library}: expected a comment above each pattern"
    return [f"| `{label}` | {comment.replace('|', chr(92) + '|')} |" for comment, label in found]


def main():
    guide = pathlib.Path(sys.argv[1]).read_text().splitlines()
    expected = [row for library in sys.argv[2:] for row in rows(library)]
    listed = [line for line in guide if re.match(r"\| `\w+` \| .*->", line)]
    problems = [f"missing: {row}" for row in expected if row not in listed]
    problems += [f"without a rule: {row}" for row in listed if row not in expected]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
