# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs of the Python package: metadata of saved models and ONNX files. A worker process loads them one by one.

Every exception must be an inlay.Error. The worker reports the outcome of each input; its parent notices if it dies or
hangs, and starts another one.
"""

from __future__ import annotations

import copy
import json
import pathlib
import random
import select
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from campaign import CPU_SECONDS, WALL_SECONDS, Campaign, Kind, Outcome, limit_memory, run_for

_NUMBERS = [0, 1, -1, 2, 7, 2**31, 2**63 - 1, 2**63, -(2**63), 10**30, 0.5, float("inf"), float("nan")]
_TEXTS = ["", "x", "float32", "state/b", "\ud800", "\0", "a" * 1000, "Mul", "__class__", "[1, 2]"]


def change_json(rng: random.Random, value: Any) -> Any:
    """Returns a copy of parsed JSON with one change."""
    value = copy.deepcopy(value)
    places: list[tuple[Any, Any]] = []

    def visit(node: Any) -> None:
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], dict | list):
                visit(node[key])

    visit(value)
    node, key = rng.choice(places)
    _, (other, from_key) = places[0], rng.choice(places)
    nested: Any = copy.deepcopy(node[key])
    for _ in range(rng.choice((1, 2, 3, 30, 900))):
        nested = [nested] if rng.random() < 0.5 else {rng.choice(("Add", "Mul", "Pow", "size")): [nested, nested]}
        if len(repr(nested)) > 5000:
            break
    choices: list[Callable[[], Any]] = [
        lambda: rng.choice(_NUMBERS),
        lambda: rng.choice(_TEXTS),
        lambda: rng.choice([None, True, False, [], {}]),
        lambda: copy.deepcopy(other[from_key]),
        lambda: nested,
    ]
    choice = rng.randrange(len(choices) + 2)
    if choice < len(choices):
        node[key] = choices[choice]()
    elif choice == len(choices):
        del node[key]
    elif isinstance(node, list):
        node.insert(key, copy.deepcopy(node[key]))
    else:
        node[rng.choice(_TEXTS)] = node.pop(key)
    return value


class MetadataInputs:
    """Models that were saved with changed metadata, loaded and called."""

    suffix = ".json"

    def __init__(self) -> None:
        import inlay
        import torch
        from inlay._program import compiled
        from torch import nn

        class Counter(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("count", torch.zeros(2))

            def forward(self, x: torch.Tensor, scale: float = 2.0) -> dict[str, Any]:
                self.count += 1
                return {"y": x * scale + self.count, "rows": x.shape[0], "pair": (x, 3)}

        class Total(nn.Module):
            def forward(self, x: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
                total.add_(x)
                return total * 2

        self._inlay, self._saving = inlay, compiled
        self._folder = tempfile.TemporaryDirectory()
        rows = torch.export.Dim("rows", min=2, max=64)
        models = [
            (nn.Linear(4, 2).eval(), (torch.ones(3, 4),), ({0: rows},)),
            (Counter(), (torch.ones(3, 2),), ({0: rows},)),
            (Counter(), (torch.ones(3, 2), 3.0), None),
            (Total(), (torch.ones(3, 2), torch.ones(3, 2)), ({0: rows}, {0: rows})),
        ]
        self._models = []
        for model, arguments, shapes in models:
            states = "total" if isinstance(model, Total) else ()
            made = inlay.compile(model, arguments, targets=("host",), dynamic_shapes=shapes, states=states)
            made.save(self._path)
            self._models.append((made, arguments[:1] if states else arguments, *self._describe(made)))

    @property
    def _path(self) -> str:
        return str(pathlib.Path(self._folder.name) / "m.inlay")

    def _describe(self, made: Any) -> tuple[Any, Any]:
        """Returns the metadata that `save` writes, parsed, and its tensors."""
        seen: list[tuple[Any, Any]] = []
        describe = self._saving.describe

        def spy(*arguments: Any) -> Any:
            result = describe(*arguments)
            seen.append((json.loads(result[0]), result[1]))
            return result

        self._saving.describe = spy
        made.save(self._path)
        self._saving.describe = describe
        return seen[0]

    def make(self, rng: random.Random) -> tuple[bytes, Callable[[], None]]:
        made, arguments, metadata, tensors = rng.choice(self._models)
        if rng.random() < 0.2:
            key = rng.choice(("in_spec", "out_spec"))  # JSON inside of JSON
            metadata = {**metadata, key: json.dumps(change_json(rng, json.loads(metadata[key])))}
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            metadata = change_json(rng, metadata)
        text = json.dumps(metadata)

        def load() -> None:
            describe = self._saving.describe
            self._saving.describe = lambda *_: (text, tensors)
            made.save(self._path)
            self._saving.describe = describe
            loaded = self._inlay.load(self._path)
            (loaded.new_session() if "states" in metadata else loaded)(*arguments)

        return text.encode(), load


class OnnxInputs:
    """ONNX's own test models with changed bytes, names, attributes, types and sizes."""

    suffix = ".onnx"

    def __init__(self) -> None:
        import inlay
        import inlay.onnx
        import onnx

        self._inlay, self._onnx = inlay, onnx
        data = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
        self._files = [path for path in sorted(data.rglob("*.onnx")) if path.stat().st_size < 100_000]
        self._folder = tempfile.TemporaryDirectory()

    def _change(self, rng: random.Random, message: Any) -> None:
        """Changes one field somewhere in a protobuf message."""
        fields = message.ListFields()
        if not fields:
            return
        field, value = rng.choice(fields)
        if not field.is_repeated:
            if field.type == field.TYPE_MESSAGE:
                self._change(rng, value)
            else:
                setattr(message, field.name, self._scalar(rng, field, value))
        elif field.type == field.TYPE_MESSAGE:
            choice, at = rng.randrange(6), rng.randrange(len(value))
            if choice == 0:
                del value[at]
            elif choice == 1:
                value.add().CopyFrom(value[at])
            else:
                self._change(rng, value[at])
        else:
            at = rng.randrange(len(value))
            if rng.random() < 0.3:
                del value[at]
            else:
                value[at] = self._scalar(rng, field, value[at])

    def _scalar(self, rng: random.Random, field: Any, value: Any) -> Any:
        if isinstance(value, float):
            return rng.choice([0.0, -1.0, 1e38, float("nan"), float("inf")])
        if isinstance(value, bytes):
            return rng.choice([b"", value[:-1], value * 2, b"\xff" * len(value), b"mode"])
        if isinstance(value, str):
            return rng.choice(["", "x", "Relu", "Conv", "Loop", "Gather", "ai.onnx.ml", value + "_", value[::-1]])
        small = [-2, -1, 0, 1, 2, 3, 5, 7, 8, 10, 11, 13, 16, 22, 30, 1000]
        if field.type in (field.TYPE_INT32, field.TYPE_ENUM):
            return rng.choice([*small[2:], 2**31 - 1]) if field.type == field.TYPE_INT32 else value
        return rng.choice([*small, 2**31, 2**63 - 1, -(2**63)])

    def make(self, rng: random.Random) -> tuple[bytes, Callable[[], None]]:
        data = rng.choice(self._files).read_bytes()
        if rng.random() < 0.2:
            changed = bytearray(data)
            for _ in range(rng.choice((1, 2, 8))):
                changed[rng.randrange(len(changed))] = rng.randrange(256)
            data = bytes(changed[: rng.choice((len(changed), len(changed), rng.randrange(len(changed))))])
        else:
            model = self._onnx.load_model_from_string(data)
            for _ in range(rng.choice((1, 1, 2, 4))):
                self._change(rng, model.graph if rng.random() < 0.9 else model)
            data = model.SerializeToString()
        path = pathlib.Path(self._folder.name) / "m.onnx"
        compiles = rng.random() < 0.3

        def load() -> None:
            path.write_bytes(data)
            if compiles:
                self._inlay.compile(str(path), targets=("host", "torch"))
            else:
                self._inlay.onnx.import_onnx(str(path))

        return data, load


INPUTS: dict[str, type[MetadataInputs | OnnxInputs]] = {"metadata": MetadataInputs, "onnx": OnnxInputs}


def work(target: str, seed: int, first: int, runs: int, seconds: float) -> None:
    """The worker: writes a line of JSON per input, before and after it is loaded."""
    warnings.simplefilter("ignore")
    limit_memory()
    inputs = INPUTS[target]()
    import inlay

    number = first

    def one(_: random.Random) -> None:
        nonlocal number
        case, load = inputs.make(random.Random(f"{seed}.{number}"))
        print(json.dumps({"number": number, "case": case.hex()}), flush=True)
        outcome = Outcome(Kind.ACCEPTED)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)  # ends the process, also inside of native code
        try:
            load()
        except inlay.Error as error:
            if not str(error):
                outcome = Outcome(Kind.WRONG, f"an error without a message: {error!r}")
            else:
                outcome = Outcome(Kind.REFUSED)
        except MemoryError:
            outcome = Outcome(Kind.MEMORY, traceback.format_exc(limit=-3))
        except BaseException as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{pathlib.Path(place.filename).name}:{place.lineno}"
            outcome = Outcome(Kind.WRONG, f"{type(error).__name__} at {where}\n{traceback.format_exc()}")
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps({"kind": outcome.kind.name, "text": outcome.text}), flush=True)
        number += 1

    run_for(seconds, runs, seed, one)
    print("{}", flush=True)


def run(target: str, campaign: Campaign, seed: int, runs: int, seconds: float) -> None:
    """Runs workers until the time or the number of inputs is used up."""
    import time

    end, first = time.monotonic() + seconds, 0
    while first < runs and time.monotonic() < end:
        left = end - time.monotonic()
        command = [sys.executable, __file__, target, *map(str, (seed, first, runs - first, left))]
        # Without a buffer, because `watch` waits for the pipe.
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0) as worker:
            first = watch(worker, campaign, INPUTS[target].suffix, first)
            worker.kill()


def watch(worker: subprocess.Popen[bytes], campaign: Campaign, suffix: str, first: int) -> int:
    """Notes the outcomes of a worker until it ends. Returns the number of the next input."""
    assert worker.stdout
    case, is_loading = b"", False
    while True:
        if not select.select([worker.stdout], [], [], WALL_SECONDS)[0]:
            campaign.note(Outcome(Kind.HANG, f"no end after {WALL_SECONDS} s"), case, suffix)
            return first + 1
        line = worker.stdout.readline()
        if not line:
            code = worker.wait()
            if not is_loading:
                raise RuntimeError(f"the worker can't start or make inputs: it ended with {code}")
            if code == -signal.SIGPROF:
                outcome = Outcome(Kind.HANG, f"no end after {CPU_SECONDS} s of processor time")
            else:
                outcome = Outcome(Kind.CRASH, f"the worker ended with {code}")
            campaign.note(outcome, case, suffix)
            return first + 1
        message = json.loads(line)
        if not message:
            return sys.maxsize
        if "case" in message:
            case, first, is_loading = bytes.fromhex(message["case"]), message["number"], True
        else:
            campaign.note(Outcome(Kind[message["kind"]], message["text"]), case, suffix)
            first, is_loading = first + 1, False


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
