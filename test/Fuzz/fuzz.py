# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fuzzes the parts of Inlay that have no fuzz target of libFuzzer: `fuzz.py TARGET --seconds 60`.

mlir       mutated modules through every pass with random options
patterns   mutated files of rewriting patterns
metadata   saved models with changed metadata
onnx       changed ONNX files

The same seed and number of inputs give the same inputs. Inputs that crash, hang, take too much memory, or raise another
exception than inlay.Error are written to the folder of --keep. Exits with 1 if there are any.
"""

import argparse
import pathlib
import sys

import mlir_text
import python_inputs
from campaign import Campaign, run_for

ROOT = pathlib.Path(__file__).parents[2]
OPT_STEPS = {"mlir": mlir_text.step, "patterns": mlir_text.step_patterns}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=[*OPT_STEPS, *python_inputs.INPUTS])
    parser.add_argument("--seconds", type=float, default=60, help="limit of the time (default: 60)")
    parser.add_argument("--runs", type=int, default=sys.maxsize, help="limit of the number of runs (default: none)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--opt", default=str(ROOT / "build" / "bin" / "inlay-opt"), help="path of inlay-opt")
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build" / "fuzz" / "findings")
    options = parser.parse_args()
    campaign = Campaign(options.target, options.keep)
    if options.target in OPT_STEPS:
        step = OPT_STEPS[options.target]
        run_for(options.seconds, options.runs, options.seed, lambda rng: step(rng, campaign, options.opt))
    else:
        python_inputs.run(options.target, campaign, options.seed, options.runs, options.seconds)
    print(campaign.report())
    return 1 if campaign.findings else 0


if __name__ == "__main__":
    sys.exit(main())
