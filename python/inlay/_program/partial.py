# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model that is compiled in parts, because no single graph can hold it."""

from __future__ import annotations

import html
import json
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import torch
from torch.utils import _pytree as pytree

from .._paths import StrPath
from ..errors import ArgumentValueError, UnsupportedError
from .compiled import CompiledModule
from .report import Report
from .state import IncompatibleKeys

_WHOLE = "a model that is compiled in parts has no single program, so it can't "


class PartialReport(Report):
    """The reports of all graphs of a model that is compiled in parts.

    `report["graphs"]` has the report of each graph. `report["segments"]` and `report["ops"]` have those of all graphs,
    with the number of the graph.
    """

    @classmethod
    def join(cls, reports: Sequence[Report]) -> PartialReport:
        """Returns the report for those of the graphs."""
        joined = cls(graphs=list(reports))
        for key in ("segments", "ops"):
            joined[key] = [{**part, "graph": number} for number, report in enumerate(reports) for part in report[key]]
        return joined

    @property
    def text(self) -> str:
        """The texts of all graphs."""
        return "\n".join(f"graph {number}\n{report.text}" for number, report in enumerate(self["graphs"]))

    @property
    def html(self) -> str:
        """A page with the pages of all graphs."""
        pages = [html.escape(report.html, quote=True) for report in self["graphs"]]
        return "\n".join(f'<iframe style="width: 100%; height: 720px" srcdoc="{page}"></iframe>' for page in pages)

    def save(self, path: StrPath, what_if: bool = False, sweep: bool = False) -> None:
        """Writes the report to a file.

        path: a file with the suffix .json, .txt, .html or .htm, which selects the form.
        what_if, sweep: not supported.
        Raises ArgumentValueError for another suffix or an analysis, and OSError if the file can't be written.
        """
        file = pathlib.Path(path)
        forms: dict[str, Callable[[], str]] = {
            ".json": lambda: json.dumps(self, indent=2) + "\n",
            ".txt": lambda: self.text,
            ".html": lambda: self.html,
            ".htm": lambda: self.html,
        }
        if what_if or sweep:
            raise ArgumentValueError("the report of several graphs has no analyses: read them from a graph's report")
        if file.suffix.lower() not in forms:
            raise ArgumentValueError(f"expected a .json, .txt or .html file for the report, but got '{file}'")
        file.write_text(forms[file.suffix.lower()](), encoding="utf-8")

    def _rendered(self, form: str, **questions: bool) -> NoReturn:
        raise ArgumentValueError("the report of several graphs has no analyses: read them from a graph's report")

    def __str__(self) -> str:
        count = len(self["graphs"])
        title = f"{count} graph{'s' * (count != 1)}: {self._totals()}"
        return "\n".join([title, *(f"graph {number}: {report}" for number, report in enumerate(self["graphs"]))])


class PartialModule(CompiledModule):
    """The callable that `inlay.compile` returns for a model that torch.export can't capture as one graph.

    PyTorch captures the graphs of the model, and Inlay compiles them. Python runs the code between them. The
    parameters, buffers and attributes are those of the model itself. A call with other dtypes, sizes or Python values
    compiles more graphs if it needs to.
    """

    def __init__(self, model: torch.nn.Module, run: Callable[..., Any], graphs: list[CompiledModule]) -> None:
        """run: the function that runs the model. graphs: a list to which it adds each graph that it compiles."""
        self._model, self._run_model, self._graphs = model, run, graphs

    @property
    def report(self) -> PartialReport:
        """The partition reports of the graphs that have been compiled so far."""
        return PartialReport.join([graph.report for graph in self._graphs])

    @property
    def symbols(self) -> dict[str, tuple[int, int | None]]:
        """Empty, because any size is accepted."""
        return {}

    @property
    def device(self) -> str:
        """The name of the device that runs segments. Empty if there is none."""
        return next((graph.device for graph in self._graphs if graph.device), "")

    @property
    def notice(self) -> str:
        """A line of text for the user, such as a note that no device was found. May be empty."""
        return next((graph.notice for graph in self._graphs if graph.notice), "")

    @torch._disable_dynamo  # type: ignore[attr-defined]  # torch.compiler.disable would import torch._dynamo here
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the model and returns its result.

        Raises ArgumentValueError for an argument that requires grad, and the exceptions of the model.
        """
        if torch.is_grad_enabled():
            for leaf in pytree.tree_leaves((args, kwargs)):
                if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
                    raise ArgumentValueError(
                        "an argument requires grad, but a compiled model records nothing for autograd: pass it "
                        "detached (.detach()) or call the model under torch.no_grad()"
                    )
        with torch.no_grad():
            return self._run_model(*args, **kwargs)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Returns the state_dict of the model."""
        return self._model.state_dict()

    def load_state_dict(
        self, state_dict: Mapping[str, torch.Tensor], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Replaces parameters and buffers of the model itself.

        Raises ArgumentValueError for wrong names or dims.
        """
        try:
            return IncompatibleKeys(*self._model.load_state_dict(state_dict, strict, assign))
        except RuntimeError as error:
            raise ArgumentValueError(str(error)) from error

    def new_session(self) -> NoReturn:
        """Raises UnsupportedError."""
        raise UnsupportedError(_WHOLE + "have states")

    def call_flat(self, *given: Any, session: object = None) -> NoReturn:
        """Raises UnsupportedError."""
        raise UnsupportedError(_WHOLE + "be called with flat arguments")

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> NoReturn:
        """Raises UnsupportedError."""
        raise UnsupportedError(_WHOLE + "flatten arguments")

    def program_arguments(self, given: Sequence[Any]) -> NoReturn:
        """Raises UnsupportedError."""
        raise UnsupportedError(_WHOLE + "have arguments of a program")

    def profile(self, *args: Any, trace: StrPath | None = None, **kwargs: Any) -> NoReturn:
        """Raises UnsupportedError."""
        raise UnsupportedError(_WHOLE + "be profiled")

    def memory(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises UnsupportedError."""
        raise UnsupportedError(_WHOLE + "report its memory")

    def save(
        self,
        path: StrPath,
        weights_file: str | None = None,
        allow_framework: bool = False,
        replace_weights: bool = False,
    ) -> NoReturn:
        """Raises UnsupportedError."""
        raise UnsupportedError(_WHOLE + f"be saved: Python runs the code between its {len(self._graphs)} graphs")
