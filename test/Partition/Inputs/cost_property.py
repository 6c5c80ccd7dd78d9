"""Partition random modules under random cost models and check their reports: `cost_property.py COUNT`."""

import json
import pathlib
import random
import subprocess
import sys

KINDS = ("matmul", "convolution", "elementwise", "reduction", "layout", "other")
OPS = ("f", "g", "h", "aten::add", "aten::view")
SIZES = (4, 64, 250, 1000, 40000)


def tensor(size: int) -> str:
    return f"tensor<{size}xf32>"


def make_module(rng: random.Random, targets: int) -> str:
    values, lists, lines = [("%x", 250), ("%y", 1000)], [], []
    for number in range(rng.randint(1, 25)):
        operands = [(name, tensor(size)) for name, size in rng.choices(values, k=rng.randint(1, 3))]
        if rng.random() < 0.12:
            element, kind = operands[0]
            lists.append((f"%l{number}", f"!inlay.list<{kind}>"))
            lines.append(f"%l{number} = inlay.list {element} : ({kind}) -> !inlay.list<{kind}>")
            continue
        if lists and rng.random() < 0.3:
            operands.append(rng.choice(lists))
        size, pin = rng.choice(SIZES), ' {inlay.target = "host"}' if rng.random() < 0.05 else ""
        names, types = (", ".join(part) for part in zip(*operands, strict=True))
        lines.append(f'%v{number} = inlay.opaque "{rng.choice(OPS)}"({names}){pin} : ({types}) -> {tensor(size)}')
        values.append((f"%v{number}", size))
    result, size = values[-1]
    declared = []
    for target in range(targets - 1):
        ops = ["inlay.list", "f", *(op for op in OPS[1:] if rng.random() < 0.7)]
        declared.append(f'#inlay.declared<"t{target}", {json.dumps(ops)}>')
    body = "\n    ".join(lines)
    return f"""module attributes {{inlay.targets = [{", ".join(declared)}, #inlay.declared<"host", ["*"]>]}} {{
  func.func @f(%x: {tensor(250)}, %y: {tensor(1000)}) -> {tensor(size)} {{
    {body}
    return {result} : {tensor(size)}
  }}
}}
"""


def make_model(rng: random.Random, targets: int) -> dict:
    def transfer():
        return {"bytes_per_second": 10 ** rng.uniform(8, 11), "seconds": 10 ** rng.uniform(-7, -5)}

    def costs(is_host):
        keys = {
            "throughput": {kind: 10 ** rng.uniform(8, 11) for kind in KINDS},
            "op_seconds": 10 ** rng.uniform(-8, -5),
            "launch_seconds": rng.choice([0, 10 ** rng.uniform(-7, -4)]),
        }
        return keys if is_host else {**keys, "transfer_in": transfer(), "transfer_out": transfer()}

    return {"version": 1, "targets": {**{f"t{t}": costs(False) for t in range(targets - 1)}, "host": costs(True)}}


def check(seed: int, strategy: str) -> int:
    """Returns the number of ops that the strategy moved."""
    options = f"strategy={strategy} cost-model=model.json report=report.json"
    subprocess.run(["inlay-opt", "module.mlir", f"--inlay-partition={options}", "-o", "module.out"], check=True)
    report = json.loads(pathlib.Path("report.json").read_text())
    times, total = report["summary"]["placements_ns"], report["summary"]["modelled_ns"]
    where = f"seed {seed}, {strategy}: {total} {times}"
    assert abs(total - times["chosen"]) <= 1, where
    if strategy == "cost":
        compared = [time for name, time in times.items() if name not in ("chosen", "lower_bound")]
        assert len(compared) == 3 and times["chosen"] <= min(compared), where
        assert times.get("lower_bound", 0) <= times["chosen"], where
    return sum(op["reason"]["code"] == "cost" for op in report["ops"])


def main() -> None:
    moved = 0
    for seed in range(int(sys.argv[1])):
        rng = random.Random(seed)
        targets = rng.choice([2, 2, 3])
        pathlib.Path("module.mlir").write_text(make_module(rng, targets))
        pathlib.Path("model.json").write_text(json.dumps(make_model(rng, targets)))
        counts = {strategy: check(seed, strategy) for strategy in ("cost", "levels", "in-order", "torch-tensorrt")}
        moved += counts["cost"]
    assert moved > 0, "no op was worth moving"


if __name__ == "__main__":
    main()
