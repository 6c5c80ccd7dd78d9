"""Compare what-if rows and sweeps of random graphs with real partitions: `what_if_random.py INLAY-OPT GRAPHS`.

Each graph has lists, multiple results, regions and up to three targets. A row for some kinds must equal the partition
of the same graph for a first target that also declares these kinds. A row for a size must equal the partition with this
size as the option. Prints the differences and exits 1.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

TENSOR, LIST = "tensor<4xf32>", "!inlay.list<tensor<4xf32>>"
KINDS = ["a", "b", "c", "d", "e", "f"]


class Graph:
    """A random function, and the ops that its targets declare."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        body, values = self.block(["x", "y"], self.random.randint(4, 22), depth=0)
        outputs = values[-2:]
        types = ", ".join([TENSOR] * len(outputs))
        self.function = "\n".join([
            f"func.func @f(%x: {TENSOR}, %y: {TENSOR}, %p: i1) -> ({types}) {{",
            *body,
            f"return {', '.join('%' + v for v in outputs)} : {types}\n}}",
        ])  # fmt: skip
        lists = ["prim::ListConstruct", "cat", "stack"]
        extra = ["scf.if"] if self.random.random() < 0.5 else []
        self.first = self.random.sample(KINDS, self.random.randint(1, 4)) + lists[: self.random.randint(0, 3)] + extra
        self.second = self.random.sample(KINDS, 3) if self.random.random() < 0.4 else None

    def op(self, kind, operands, types, result):
        name = f"v{self.count}"
        self.count += 1
        arguments = ", ".join("%" + o for o in operands)
        return name, f'%{name} = inlay.opaque "{kind}"({arguments}) : ({", ".join(types)}) -> {result}'

    def block(self, values, size, depth):
        """Returns the lines of a block and the values at its end."""
        lines, values = [], list(values)
        for _ in range(size):
            chance = self.random.random()
            if chance < 0.12:
                name, line = self.op("prim::ListConstruct", self.random.choices(values, k=2), [TENSOR] * 2, LIST)
                lines.append(line)
                for _ in range(self.random.randint(1, 2)):
                    user, line = self.op(self.random.choice(["cat", "stack"]), [name], [LIST], TENSOR)
                    lines.append(line)
                    values.append(user)
            elif chance < 0.2 and depth < 2:
                name = f"v{self.count}"
                self.count += 1
                lines.append(f"%{name} = scf.if %p -> {TENSOR} {{")
                for number in range(2):
                    inner, inside = self.block(values, self.random.randint(1, 5), depth + 1)
                    lines += [*inner, f"scf.yield %{inside[-1]} : {TENSOR}", "} else {" if number == 0 else "}"]
                values.append(name)
            else:
                near = values[-6:]
                operands = self.random.choices(near, k=self.random.randint(1, 2))
                name, line = self.op(self.random.choice(KINDS), operands, [TENSOR] * len(operands), TENSOR)
                lines.append(line)
                values.append(name)
        return lines, values

    def module(self, more=()):
        targets = [("npu", [*self.first, *more])]
        if self.second:
            targets.append(("dsp", self.second))
        targets.append(("host", ["*"]))
        declared = ", ".join(f'#inlay.declared<"{name}", {json.dumps(ops)}>' for name, ops in targets)
        return f"module attributes {{inlay.targets = [{declared}]}} {{\n{self.function}\n}}\n"


def partition(tool, modules, options):
    """Returns the report on each module."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "modules.mlir")
        file.write_text("\n// -----\n".join(modules))
        command = [tool, file, f"--inlay-partition={options} report=-", "--split-input-file", "-o", "/dev/null"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    reports, decoder, place = [], json.JSONDecoder(), 0
    while place < len(printed.rstrip()):
        report, place = decoder.raw_decode(printed, place)
        reports.append(report)
        place += len(printed[place:]) - len(printed[place:].lstrip())
    assert len(reports) == len(modules), (len(reports), len(modules))
    return reports


def count(report):
    """Returns the figures of a row, computed from the segments of a report."""
    accelerated = [segment for segment in report["segments"] if segment["target"] != "host"]
    sizes = [segment[side] for segment in accelerated for side in ("bytes_in", "bytes_out")]
    return {
        "segments": len(report["segments"]),
        "accelerated_segments": len(accelerated),
        "ops": len(report["ops"]),
        "accelerated_ops": sum(len(segment["ops"]) for segment in accelerated),
        "border_bytes": None if None in sizes else sum(sizes),
    }


def main():
    tool, graphs = sys.argv[1], [Graph(seed) for seed in range(int(sys.argv[2]))]
    wrong = rows_seen = 0

    def compare(row, report, what):
        nonlocal wrong, rows_seen
        expected = count(report)
        got = {key: row[key] for key in expected}
        rows_seen += 1
        if got != expected:
            wrong += 1
            print(f"{what}: expected {expected}, but got {got}")

    for options in ("min-block-size=1", "min-block-size=3", "strategy=in-order"):
        reports = partition(tool, [graph.module() for graph in graphs], f"{options} what-if=true sweep=true")
        asked = []  # (graph, row)
        for graph, report in zip(graphs, reports, strict=True):
            compare(report["what_if"]["now"], report, f"now, {options}")
            rows = report["what_if"]
            asked += [(graph, row) for key in ("kinds", "together", "pairs") for row in rows[key]]
        real = partition(tool, [graph.module(row["kinds"]) for graph, row in asked], options)
        for (graph, row), report in zip(asked, real, strict=True):
            compare(row, report, f"{row['kinds']} with {options} in\n{graph.module()}")
        for size in (1, 2, 3, 5, 8):
            sized = [option for option in options.split() if "min-block-size" not in option]
            sized = " ".join([*sized, f"min-block-size={size}"])
            real = partition(tool, [graph.module() for graph in graphs], sized)
            for graph, swept, report in zip(graphs, reports, real, strict=True):
                for row in swept["min_block_sizes"]:
                    if row["min_block_size"] == size:
                        compare(row, report, f"size {size} with {options} in\n{graph.module()}")
    print(f"{rows_seen} rows, {wrong} wrong")
    sys.exit(wrong > 0 or rows_seen < 20 * len(graphs))


if __name__ == "__main__":
    main()
