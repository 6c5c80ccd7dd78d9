# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Declares the extension, which is written in C++ (python/src)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

import torch

_Args = dict[str, Any]

__version__: str
llvm_version: str
root_interfaces: list[str]

# -- Graphs -----------------------------------------------------------------------------------------------------------

class Attribute:
    """An attribute of MLIR, parsed from its text."""

    def __init__(self, text: str) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class Op:
    """A handle to an op of a graph."""

    @property
    def graph(self) -> Graph: ...
    @property
    def kind(self) -> str: ...
    @property
    def reported_kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def location(self) -> str: ...
    @property
    def operands(self) -> list[Value]: ...
    @property
    def results(self) -> list[Value]: ...
    @property
    def attributes(self) -> dict[str, Any]: ...
    @property
    def constant(self) -> str | bytes | None:
        """The key of a constant, or its elements as bytes. None if the op is not a constant."""

    @property
    def regions(self) -> int: ...
    @property
    def is_live(self) -> bool: ...
    @property
    def is_removed(self) -> bool: ...
    def rename(self, name: str, /) -> None: ...
    def operand(self, number: int, /) -> Value: ...
    def result(self, number: int, /) -> Value: ...
    def attribute(self, name: str, /) -> Any: ...
    def set_attribute(self, name: str, value: object) -> None: ...
    def mark_removed(self, with_regions: bool, /) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class Value:
    """A handle to a value of a graph."""

    @property
    def graph(self) -> Graph: ...
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...] | None:
        """The dims, with -1 for an unknown dim. None if the value is not a ranked tensor."""

    @property
    def element(self) -> str: ...
    @property
    def parent(self) -> Op | None: ...
    @property
    def number(self) -> int: ...
    @property
    def users(self) -> list[Op]: ...
    @property
    def is_input(self) -> bool: ...
    @property
    def is_output(self) -> bool: ...
    @property
    def is_live(self) -> bool: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class Graph:
    """An MLIR module. Changes are allowed only between `begin` and `end`, which may be nested."""

    network: Any  # a weak reference to the inlay.Module of the graph, set by that module
    @staticmethod
    def parse(text: str, name: str = "<input>") -> Graph: ...
    def text(self, locations: bool) -> str: ...
    def verify(self) -> None: ...
    def extract(self, ops: Sequence[Op]) -> tuple[str, list[Value], list[Value]]: ...
    def ops(self) -> list[Op]: ...
    def functions(self) -> list[str]: ...
    def inputs(self, function: str, /) -> list[Value]: ...
    def outputs(self, function: str, /) -> list[Value]: ...
    def find(self, name: str, /) -> Op | None: ...
    def begin(self) -> None: ...
    def end(self, keep: bool) -> None: ...
    def push_insertion_point(self, op: Op, after: bool) -> None: ...
    def pop_insertion_point(self) -> None: ...
    def create(
        self, name: str, operands: Sequence[Value], attributes: Mapping[str, Any], results: Sequence[str] | None
    ) -> Op: ...
    def add_input(self, name: str, type: str) -> Value: ...
    def mark_output(self, value: Value) -> None: ...
    def move_uses(self, old: Value, new: Value, keep: Sequence[Op], retype: bool) -> None: ...

# -- Recorded calls ---------------------------------------------------------------------------------------------------

class CallRecord(TypedDict):
    """A recorded call with its current tensors."""

    function: str
    parent: str
    arguments: dict[str, Any]
    outputs: Any
    ops: list[Op]

class Recorder:
    """Records all ops that are made from its construction to `close` as one call."""

    def __init__(self, graph: Graph, function: str) -> None: ...
    def argument(self, name: str, structure: object) -> None: ...
    def outputs(self, structure: object) -> None: ...
    def close(self) -> None: ...

def find_call(op: Op) -> str | None: ...
def read_call(graph: Graph, key: str) -> CallRecord: ...
def list_calls(graph: Graph) -> list[str]: ...
def replace_call_input(graph: Graph, key: str, old: Value, new: Value) -> None: ...

# -- Patterns ---------------------------------------------------------------------------------------------------------

class PatternManager:
    def __init__(self) -> None: ...
    def add_pdl(self, text: str, name: str, prefix: str) -> list[str]: ...
    def add_traced(
        self, label: str, text: str, benefit: int | None, functions: Mapping[str, Callable[[list[Any]], bool | str]]
    ) -> None: ...
    def add_class(
        self,
        label: str,
        names: Sequence[str],
        interfaces: Sequence[str],
        benefit: int,
        match: Callable[[Op], bool | str | list[Op]] | None,
        rewrite: Callable[[Op], bool] | None,
        match_and_rewrite: Callable[[Op], bool] | None,
        analyze: Callable[[list[Op]], None] | None,
    ) -> None: ...
    def add_library(self, name: str) -> list[str]: ...
    def check(self, label: str, args: _Args) -> tuple[str, str]:
        """Returns (the error, a graph that shows it). Both are empty if the rule holds."""

    def labels(self) -> list[str]: ...
    def pdl(self, label: str) -> str: ...
    def remove(self, label: str, /) -> None: ...
    def set_enabled(self, glob: str, on: bool, /) -> int: ...
    def is_enabled(self, label: str, /) -> bool: ...
    def statistics(self, label: str, /) -> tuple[int, int, int, int]:
        """Returns the numbers of tried, matched, rewritten and rejected roots."""

    def rewrite(
        self,
        graph: Graph,
        args: _Args,
        driver: str,
        limit: int,
        budget: float,
        remove_dead_code: bool,
        across_segments: bool,
        trace: bool,
        check_each: bool,
    ) -> tuple[int, str]:
        """Returns the number of rewrites, and the trace as JSON."""

    def analyze(self, graph: Graph, args: _Args, op: Op | None) -> list[tuple[str, list[Op], dict[str, Any]]]:
        """Returns (label, ops, captures) of each match."""

    def explain(self, label: str, graph: Graph, args: _Args, ops: Sequence[Op] | None) -> tuple[str, str]:
        """Returns an explanation as a sentence and as JSON."""

def draw_graph(pdl: str, args: _Args, number: int) -> tuple[str, int] | tuple[None, str]:
    """Returns (graph as text, value of its open sizes), or (None, the reason why there is no graph)."""

def compare_graphs(label: str, before: Graph, after: Graph, args: _Args, unknown_size: int) -> tuple[str, str, bool]:
    """Returns (difference, both graphs as text, is_sure). The difference is empty if there is none.

    is_sure is false if the graphs can't be run.
    """

# -- Compilation ------------------------------------------------------------------------------------------------------

class Request:
    """A request to the compiler. Options have the names of docs/reference/options.md."""

    text: str
    name: str
    allow_missing_device: bool
    allow_ops: list[str]
    cost_model: str
    device: str
    dump_dir: str
    enabled: bool
    exempt_ops: list[str]
    fewest_bytes: bool
    host_cpu: list[str]
    max_loop_iterations: int
    min_block_size: int
    placement: str
    recovery: bool
    report: str
    require_full_compilation: bool
    save_placement: str
    strategy: str
    sweep: bool
    targets: list[str]
    torch_executed_locations: list[str]
    torch_executed_modules: list[str]
    torch_executed_ops: list[str]
    tuning: str
    what_if: bool

    def __init__(self) -> None: ...
    def add_weight(self, key: str, tensor: torch.Tensor) -> None: ...
    def set_progress(self, function: Callable[[str, int, int], None]) -> None: ...
    def set_fallback(self, run: Callable[[str, list[torch.Tensor], list[torch.Tensor], list[int]], None]) -> None: ...

class Results:
    """The results of a call. `tensors` converts them."""

    def tensors(self) -> list[torch.Tensor]: ...

# (name, minimum, maximum, input, dim, scale, offset) of a symbol.
_Symbol = tuple[str, int, int, int, int, int, int]
# (name, dtype, dims) of a tensor, with each dim as a postfix list of (operation, a, b).
_Tensor = tuple[str, str, list[list[tuple[int, int, int]]]]

class Session:
    """The states of a sequence of calls of a program. It serves one call at a time."""

    def reset(self) -> None:
        """Frees all states. The next call starts with zeros, and its inputs choose the dims."""

    def dims(self, number: int) -> list[int]: ...
    def read(self, number: int) -> torch.Tensor:
        """Returns a copy of a state."""

    def write(self, values: Sequence[tuple[int, torch.Tensor]]) -> None:
        """Replaces states, given by number. A wrong value changes none of them."""

class Compilation:
    """A compiled program."""

    def make_session(self) -> Session: ...
    def call(self, inputs: Sequence[torch.Tensor], session: Session | None = None) -> Results: ...
    def profile(
        self, inputs: Sequence[torch.Tensor], traced: bool, session: Session | None = None
    ) -> tuple[list[tuple[str, str, float]], str, str, str]:
        """Returns the (segment, kind, seconds) of each step, the report, a table, and the trace as JSON."""

    def memory(self, inputs: Sequence[Sequence[int]]) -> tuple[str, str]:
        """Returns the memory that a call with inputs of these dims needs, as JSON and as a table."""

    def replace_weights(self, weights: Sequence[tuple[str, torch.Tensor]]) -> None: ...
    def save(
        self,
        path: str,
        metadata: str,
        tensors: Sequence[tuple[str, torch.Tensor]],
        weights_file: str,
        allow_framework: bool,
        replace_weights: bool,
    ) -> None: ...
    def constant(self, key: str) -> bytes | None: ...
    @property
    def plain_signature(self) -> tuple[list[_Symbol], list[_Tensor], list[_Tensor]]:
        """The symbols, inputs and outputs of a call."""

    @property
    def states(self) -> list[_Tensor]: ...
    @property
    def framework_calls(self) -> list[tuple[int, str]]:
        """(segment number, call as text) of each step that calls PyTorch."""

    @property
    def report(self) -> str: ...
    @property
    def notice(self) -> str: ...
    @property
    def device(self) -> str: ...

def compile(request: Request) -> Compilation: ...
def load(
    path: str,
    device: str,
    run: Callable[..., None],
    before_device: Callable[[], None],
    public_key: str,
) -> tuple[Compilation, str]:
    """Returns the program of a file and its metadata."""

def partition(request: Request, format: Literal["json", "text", "table", "html"] = "json") -> str: ...
def devices() -> list[str]: ...
def format_kernels(report: str) -> str: ...
def insert_kernels(page: str, report: str) -> str: ...

# -- Values outside of a graph ----------------------------------------------------------------------------------------

def has_same_values(owners: tuple[Any, ...], keys: tuple[str, ...], values: tuple[Any, ...]) -> bool:
    """Returns true if each entry of a dict or attribute of an object is the object in `values`."""

def has_same_contents(containers: tuple[Any, ...], contents: tuple[tuple[Any, ...], ...]) -> bool:
    """Returns true if each container holds the objects in its tuple of `contents`, in that order.

    The tuple of a dict holds its keys and values in turn. An Ellipsis stands for any value.
    """

def are_empty(dicts: tuple[dict[Any, Any], ...]) -> bool:
    """Returns true if all dicts are empty."""
