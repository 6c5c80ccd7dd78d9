"""Partition a graph with torch.fx's partitioners: `fx_partitioners.py GRAPH`.

GRAPH is a file with a line per op, in topological order: `A` if an accelerator can run the op, else `H`, then the
numbers of the ops that it reads. An op that reads no other op reads the input. Prints a JSON object with the times, in
milliseconds of processor time, and the numbers of segments of CapabilityBasedPartitioner, whose partitions are
accelerator segments, and of splitter_base.
"""

import contextlib
import io
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.splitter_base import _SplitterBase, _SplitterSettingBase


def on_accelerator(*operands: torch.Tensor) -> torch.Tensor:
    return operands[0]


def on_host(*operands: torch.Tensor) -> torch.Tensor:
    return operands[0]


class Support(OperatorSupportBase):
    def is_node_supported(self, submodules: Any, node: torch.fx.Node) -> bool:
        return node.target is on_accelerator


def read_graph(path: str) -> torch.fx.GraphModule:
    graph = torch.fx.Graph()
    graph_input = graph.placeholder("x")
    nodes = []
    with open(path) as lines:
        for line in lines:
            side, *operands = line.split()
            function = on_accelerator if side == "A" else on_host
            nodes.append(graph.call_function(function, tuple(nodes[int(o)] for o in operands) or (graph_input,)))
    graph.output(tuple(node for node in nodes if not node.users))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def timed(step: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = step()
    return (time.process_time() - start) * 1e3, result


def run_capability_based(path: str) -> dict[str, float]:
    module = read_graph(path)
    make = lambda: CapabilityBasedPartitioner(module, Support(), allows_single_node_partition=True)  # noqa: E731
    making, partitioner = timed(make)
    proposing, partitions = timed(partitioner.propose_partitions)
    fusing, _ = timed(lambda: partitioner.fuse_partitions(partitions))
    return {
        "capability_ms": making + proposing,
        "capability_fuse_ms": fusing,
        "capability_accelerator_segments": len(partitions),
    }


def run_splitter(path: str) -> dict[str, float]:
    settings = _SplitterSettingBase(min_acc_module_size=1, skip_fusion=True, allow_non_tensor=True)
    splitter = _SplitterBase(read_graph(path), (torch.zeros(1),), Support(), settings)
    placing, subgraphs = timed(splitter.put_nodes_into_subgraphs)
    with contextlib.redirect_stdout(io.StringIO()):
        splitting, _ = timed(splitter)
    return {
        "splitter_ms": splitting,
        "splitter_place_ms": placing,
        "splitter_segments": len(subgraphs),
        "splitter_accelerator_segments": sum(subgraph.is_acc for subgraph in subgraphs),
    }


def main() -> int:
    path = sys.argv.pop(1)  # the settings of the splitter also read the command line
    found = {**run_splitter(path), **run_capability_based(path)}
    print(json.dumps({"torch": torch.__version__, **found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
