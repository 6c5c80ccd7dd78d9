# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which module is being worked on, and where in it new layers go."""

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


def _stack():
    if not hasattr(_local, "modules"):
        _local.modules = []
    return _local.modules


def current_module() -> Module:
    """The module of the innermost `net_guard` or run of patterns; RewriteError if there is none."""
    if not _stack():
        raise RewriteError("expected to be inside of 'with net_guard(module)', or of a pattern, but there is no module")
    return _stack()[-1]


@contextlib.contextmanager
def working_on(module: Module) -> Iterator[Module]:
    _stack().append(module)
    try:
        yield module
    finally:
        _stack().pop()


class changing:
    """A change of a graph: a transaction of its own, or part of the one around it."""

    __slots__ = ("_graph",)

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        self._graph.begin()

    def __exit__(self, kind: type[BaseException] | None, *failure: object) -> None:
        self._graph.end(kind is None)


@contextlib.contextmanager
def _insert(layer, after):
    graph = layer._op.graph
    graph.push_insertion_point(layer._op, after)
    try:
        yield
    finally:
        graph.pop_insertion_point()


def insert_before(layer: Layer) -> contextlib.AbstractContextManager[None]:
    """New layers go before `layer`. Without it they go before the layer that is rewritten, else to the end."""
    return _insert(layer, False)


def insert_after(layer: Layer) -> contextlib.AbstractContextManager[None]:
    """New layers go after `layer`, in the order in which they are made."""
    return _insert(layer, True)
