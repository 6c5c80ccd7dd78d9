# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs samples of PyTorch's operator database (torch.testing) on each target and compares the results with PyTorch.

python torch_ops.py                                  all operators; prints a table and all faults
python torch_ops.py --ops '^(add|mul)$' --samples 20 some operators, with more samples
python torch_ops.py --count 60 --seed 3              60 operators that the seed draws, with other samples
python torch_ops.py --json FILE                      also adds each outcome to a file as a line of JSON; operators that
                                                     the file has do not run again
python torch_ops.py --read FILE                      prints the table and the faults of such a file
python torch_ops.py --fallbacks 30                   also prints the 30 calls that PyTorch ran in most samples
python torch_ops.py --targets compile-host           through torch.compile, with gradients

A sample must be right, or refused with an inlay.Error that names the call. Where PyTorch computes in a 16-bit type, the
result of PyTorch in float64 is right too. torch_ops_known.json lists the exceptions with their reasons. The run fails
if there is a fault that is not in the list, or an entry of the list without a fault.
"""

import argparse
import collections
import dataclasses
import json
import pathlib
import queue
import random
import re
import subprocess
import sys
import threading

KNOWN = pathlib.Path(__file__).with_name("torch_ops_known.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ops", default="", help="a regular expression; only operators that it finds run")
    parser.add_argument("--count", type=int, help="the number of operators; drawn by the seed")
    parser.add_argument("--samples", type=int, default=4, help="the number of samples of each operator and dtype")
    parser.add_argument("--dtypes", type=int, default=10, help="the number of dtypes of each operator")
    parser.add_argument("--targets", default="host,vulkan", help="names, separated by commas")
    parser.add_argument("--elements", type=int, default=4000, help="the most elements of a sample")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=300.0, help="the time limit of an operator")
    parser.add_argument("--json", type=pathlib.Path, help="the file to add outcomes to; its operators do not run again")
    parser.add_argument("--read", type=pathlib.Path, help="a file that --json wrote; nothing runs")
    parser.add_argument("--fallbacks", type=int, default=0, help="the number of calls in the table of calls to PyTorch")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        _work(options)
        return 0
    import op_db_samples

    if unknown := set(options.targets.split(",")) - set(op_db_samples.TARGETS):
        parser.error(f"unknown target {sorted(unknown)[0]!r}: expected {', '.join(op_db_samples.TARGETS)}")
    if options.read:
        outcomes = _read(options.read)
        chosen = {outcome.op for outcome in outcomes}
        for outcome in faults(outcomes, load_known()):
            print(describe(outcome))
    else:
        chosen = [name for name in op_db_samples.names() if re.search(options.ops, name)]
        random.Random(options.seed).shuffle(chosen)  # so that a run that is stopped is a sample of all
        chosen = chosen[: options.count]
        outcomes = _run_all(chosen, options)
    if options.fallbacks:
        print(table_of_fallbacks(outcomes, options.fallbacks))
    print(table(outcomes))
    return report_faults(outcomes, load_known(), chosen)


# -- Workers ----------------------------------------------------------------------------------------------------------


def _work(options):
    """Reads names of operators from standard input and writes the outcomes of each as a line of JSON."""
    import op_db
    import op_db_samples

    sizes = op_db_samples.Sizes(
        options.samples, options.elements, options.dtypes, options.seed, options.targets.split(",")
    )
    out = sys.stdout
    sys.stdout = sys.stderr  # the line of JSON is all that the parent reads
    for line in sys.stdin:
        found = [dataclasses.asdict(outcome) for outcome in op_db.check(line.strip(), sizes)]
        print(json.dumps(found), file=out, flush=True)


def _run_all(names, options):
    """Returns the outcomes of all operators. Several processes run those that the file of outcomes does not have."""
    found = {}
    if options.json and options.json.exists():
        for outcome in _read(options.json):
            found.setdefault(outcome.op, []).append(outcome)
    left = queue.SimpleQueue()
    for name in names:
        if name not in found:
            left.put(name)
    threads = [threading.Thread(target=_feed, args=(left, found, options)) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [outcome for name in names for outcome in found[name]]


def _read(path):
    """Returns the outcomes of a file that `--json` wrote."""
    from op_db_samples import Outcome

    return [Outcome(**json.loads(line)) for line in path.read_text().splitlines()]


def _feed(left, found, options):
    """Gives a worker process one operator after the other. A process that dies or hangs is replaced."""
    from op_db_samples import Outcome

    worker, known = None, load_known()
    command = [sys.executable, __file__, "--worker"]
    for name in ("samples", "elements", "dtypes", "seed", "targets"):
        command += [f"--{name}", str(getattr(options, name))]
    while True:
        try:
            name = left.get_nowait()
        except queue.Empty:
            break
        worker = worker or subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        timer = threading.Timer(options.seconds, worker.kill)
        timer.start()
        worker.stdin.write(f"{name}\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
        hung = not timer.is_alive()
        timer.cancel()
        if line:
            found[name] = [Outcome(**fields) for fields in json.loads(line)]
        else:
            text = f"ran for {options.seconds:.0f} s" if hung else f"the process ended with status {worker.wait()}"
            found[name] = [Outcome(name, "all", "all", "hung" if hung else "died", "", text)]
            worker = None
        if options.json:
            lines = [json.dumps(dataclasses.asdict(outcome)) + "\n" for outcome in found[name]]
            with options.json.open("a") as file:
                file.write("".join(lines))
        for outcome in faults(found[name], known):
            print(describe(outcome), flush=True)
    if worker:
        worker.stdin.close()
        worker.wait()


# -- Faults -----------------------------------------------------------------------------------------------------------


def table(outcomes):
    """Returns the number of outcomes by target and kind as text."""
    kinds = ["right", "without PyTorch", "closer", "foreign", "refused", "unclear", "wrong", "raised", "hung", "died"]
    counts = collections.Counter()
    for outcome in outcomes:
        counts[outcome.target, outcome.kind] += 1
        if outcome.kind == "right" and not outcome.fallbacks:
            counts[outcome.target, "without PyTorch"] += 1
    targets = sorted({target for target, _ in counts})
    lines = [f"{'':16}" + "".join(f"{kind:>17}" for kind in kinds)]
    lines += [f"{target:16}" + "".join(f"{counts[target, kind]:17}" for kind in kinds) for target in targets]
    return "\n".join(lines)


def table_of_fallbacks(outcomes, count):
    """Returns the calls that PyTorch ran in most samples as text: the number of samples, the call, its dtypes, and the
    operators of the samples.

    count: the number of calls for each target.
    """
    lines = []
    for target in sorted({outcome.target for outcome in outcomes}):
        right = [outcome for outcome in outcomes if outcome.target == target and outcome.kind == "right"]
        samples = collections.defaultdict(list)
        for outcome in right:
            found = {call for reason in outcome.fallbacks for call in re.findall(r"\b\w+::\w+(?:\.\w+)*", reason)}
            for call in found - {"torch::calls"}:
                samples[call].append(outcome)
        lines.append(f"{target}: PyTorch runs calls in {sum(bool(o.fallbacks) for o in right)} of {len(right)} samples")
        for call, found in sorted(samples.items(), key=lambda item: -len(item[1]))[:count]:
            dtypes, ops = ({getattr(outcome, field) for outcome in found} for field in ("dtype", "op"))
            lines.append(f"{len(found):6}  {call}: {_shorten(dtypes, 9)} ({_shorten(ops, 3)})")
    return "\n".join(lines)


def _shorten(names, count):
    """Returns the first names as text."""
    more = len(names) - count
    return ", ".join(sorted(names)[:count]) + (f" and {more} more" if more > 0 else "")


def load_known():
    """Returns the entries of the list of exceptions.

    Each has the name of an operator ("op"), the kinds of the faults ("kind"), dtypes and targets (absent for all), and
    the reason.
    """
    return json.loads(KNOWN.read_text())


def covers(entry, outcome):
    """Returns true if an entry of the list is about the outcome."""
    return (
        entry["op"] == outcome.op
        and entry["kind"] == outcome.kind
        and outcome.dtype in entry.get("dtypes", [outcome.dtype])
        and outcome.target in entry.get("targets", [outcome.target])
    )


def faults(outcomes, known):
    """Returns the outcomes that are faults of Inlay and not in the list of exceptions."""
    return [
        outcome
        for outcome in outcomes
        if outcome.kind not in ("right", "closer", "foreign", "refused")
        and not any(covers(entry, outcome) for entry in known)
    ]


def describe(outcome):
    """Returns a fault as text."""
    return f"{outcome.kind}: {outcome.op} {outcome.dtype} on {outcome.target}: {outcome.sample}\n    {outcome.text}"


def report_faults(outcomes, known, chosen):
    """Prints the number of faults, and the entries of the list without a fault. Returns the exit status."""
    found = faults(outcomes, known)
    stale = [
        entry for entry in known if entry["op"] in chosen and not any(covers(entry, outcome) for outcome in outcomes)
    ]
    for entry in stale:
        print(f"out of date: {json.dumps(entry)}")
    print(f"{len(found)} faults, {len(stale)} entries out of date")
    return 1 if found or stale else 0


if __name__ == "__main__":
    sys.exit(main())
