# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The current module of a thread and the insertion point of new layers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import RewriteError

if TYPE_CHECKING:
    from .._inlay import Graph
    from .module import Layer, Module

_local = threading.local()


def _stack() -> list[Module]:
    """Returns the current modules of this thread, the innermost last."""
    if not hasattr(_local, "modules"):
        _local.modules = []
    modules: list[Module] = _local.modules
    return modules


def current_module() -> Module:
    """Returns the module of the innermost `net_guard` or run of patterns. Raises RewriteError if there is none."""
    if not _stack():
        raise RewriteError(
            "expected a call inside 'with net_guard(module)' or inside a pattern, but there is no module"
        )
    return _stack()[-1]


@contextlib.contextmanager
def working_on(module: Module) -> Iterator[Module]:
    """Makes `module` the current module of this thread."""
    _stack().append(module)
    try:
        yield module
    finally:
        _stack().pop()


class changing:
    """A context that changes a graph. It is a transaction, or a part of the transaction around it."""

    __slots__ = ("_graph",)

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        self._graph.begin()

    def __exit__(self, kind: type[BaseException] | None, *failure: object) -> None:
        self._graph.end(kind is None)


@contextlib.contextmanager
def _insert(layer: Layer, after: bool) -> Iterator[None]:
    graph = layer._op.graph
    graph.push_insertion_point(layer._op, after)
    try:
        yield
    finally:
        graph.pop_insertion_point()


def insert_before(layer: Layer) -> contextlib.AbstractContextManager[None]:
    """Returns a context in which new layers are inserted before `layer`.

    Without such a context, new layers are inserted before the layer that a pattern rewrites, or else at the end.
    """
    return _insert(layer, False)


def insert_after(layer: Layer) -> contextlib.AbstractContextManager[None]:
    """Returns a context in which new layers are inserted after `layer`, in the order in which they are made."""
    return _insert(layer, True)
