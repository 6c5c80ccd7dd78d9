"""Run host code that was compiled for another processor: `other_processor.py FOLDER RUN MODULE...`.

Compiles each module for this processor and for AArch64 and runs both programs on the same inputs. RUN is a command that
runs the program for AArch64 in an emulator. Prints `NAME: N results` for each module whose results agree up to
rounding, and exits with 1 if the results of some module do not.
"""

import pathlib
import shlex
import subprocess
import sys

import numpy as np

# The largest difference relative to the largest element of a result: a few rounding errors of the type.
SLACK = {"float16": 5e-3, "float32": 2e-5, "float64": 1e-12}


def results(command: list[str], program: pathlib.Path) -> dict[str, np.ndarray]:
    output = program.with_suffix(".npz")
    subprocess.run([*command, str(program), f"--output={output}"], check=True)
    with np.load(output) as file:
        return dict(file)


def difference(here: np.ndarray, there: np.ndarray) -> str:
    """Returns a description of the difference between two results, or "" if they agree up to rounding."""
    if (here.dtype, here.shape) != (there.dtype, there.shape):
        return f"expected {here.dtype}{list(here.shape)}, but got {there.dtype}{list(there.shape)}"
    slack = SLACK.get(here.dtype.name, 0)
    if not slack:
        return "" if np.array_equal(here, there) else "elements differ"
    here, there = here.astype("float64"), there.astype("float64")
    finite = np.abs(here[np.isfinite(here)])
    largest = max(finite.max(initial=0.0), 1.0)
    if np.allclose(here, there, rtol=0, atol=slack * largest, equal_nan=True):
        return ""
    return f"elements differ by {np.nanmax(np.abs(here - there)) / largest:.1e} of the largest"


def main(folder: str, run: str, *modules: str) -> int:
    status = 0
    for path in map(pathlib.Path, modules):
        programs = []
        for cpu in ("native", "armv8.2-a"):
            programs.append(pathlib.Path(folder) / f"{path.stem}-{cpu}.inlay")
            command = ["inlay-compile", str(path), "--targets=host", f"--host-cpu={cpu}", "-o", str(programs[-1])]
            subprocess.run(command, check=True)
        here, there = results(["inlay-run"], programs[0]), results(shlex.split(run), programs[1])
        wrong = [f"{name}: {text}" for name in here if (text := difference(here[name], there[name]))]
        print(f"{path.stem}: {'; '.join(wrong) or f'{len(here)} results'}", flush=True)
        status |= bool(wrong)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
