# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a decoder of transformers and puts the program in the place of its forward."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import torch
from torch import nn
from torch.export import Dim
from transformers import PreTrainedModel
from transformers.cache_utils import Cache
from transformers.modeling_outputs import CausalLMOutputWithPast

from .._compile.driver import compile as compile_program
from .._paths import StrPath
from .._program.compiled import CompiledModule
from ..errors import ArgumentTypeError, ArgumentValueError, DeviceError, UnsupportedError
from .cache import LayerShape, ProbedLayer, ProgramCache, Tokens, TracedLayer, allocate
from .saving import describe_generation

# The names that transformers gives a cache: the first one from version 5.24 on.
_CACHE_NAMES = ("cache", "past_key_values")
_EXAMPLE = 2  # sequences and tokens of the example inputs: PyTorch treats sizes of 1 as fixed
_EXAMPLE_PAST = 3  # tokens in the cache of the example inputs
LEAST_MAXIMUM = 3  # of sizes: torch.export can't trace models for sizes that are at most those of the example
_CHUNK = 256  # the maximum number of tokens of a call of the program; longer prompts take several calls


class CompiledModel(Protocol):
    """A model of transformers whose forward is a compiled program. It is a subclass of the class of the model."""

    program: CompiledModule
    """The program, with its report."""

    def generate(self, *args: Any, **kwargs: Any) -> Any:
        """Generates text as transformers does."""

    def new_cache(self) -> ProgramCache:
        """Returns an empty cache. A call of `generate` continues the text of the cache that it gets."""

    def save(self, path: StrPath, weights_file: str | None = None, replace_weights: bool = False) -> None:
        """Writes the program and the settings of `generation_config` to a file for `inlay_runtime.generate`.

        The arguments and errors are those of `CompiledModule.save`. Raises UnsupportedError for settings that
        `inlay_runtime.generate` doesn't have.
        """


class _Step(nn.Module):
    """One call of a model, with the cache as tensors.

    input_ids: int64[batch, tokens]. attention_mask: int64[batch, tokens], 0 for padding. past_mask: int64[batch, past],
    the same for the tokens in the cache. position_ids: int64[batch, tokens]. keys, values: the tensors of each layer,
    which are written.
    """

    def __init__(self, model: PreTrainedModel, all_logits: bool) -> None:
        super().__init__()
        self.model, self.all_logits = model, all_logits
        self.accepted = inspect.signature(model.forward).parameters
        self.cache_name = find_cache_name(model)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        past_mask: torch.Tensor,
        position_ids: torch.Tensor,
        keys: list[torch.Tensor],
        values: list[torch.Tensor],
    ) -> torch.Tensor:
        """Returns the logits of the last token, or of all tokens: [batch, 1 or tokens, words]."""
        length, count = past_mask.shape[1], input_ids.shape[1]
        layers = [TracedLayer(*tensors, length, count) for tensors in zip(keys, values, strict=True)]
        arguments: dict[str, Any] = {
            "input_ids": input_ids,
            "attention_mask": torch.cat([past_mask, attention_mask], dim=1),
            self.cache_name: Cache(layers=layers),
            "use_cache": True,
        }
        if "position_ids" in self.accepted:
            arguments["position_ids"] = position_ids
        if "logits_to_keep" in self.accepted and not self.all_logits:
            arguments["logits_to_keep"] = 1
        logits = cast(torch.Tensor, self.model(**arguments).logits)
        return logits if self.all_logits else logits[:, -1:]


def compile_model(
    model: Any, *, max_length: int, max_batch: int, all_logits: bool, options: Mapping[str, Any]
) -> CompiledModel:
    """See `inlay.generation.compile`."""
    check_model(model)
    check_sizes(model, max_length, max_batch)
    shapes = _find_shapes(model)
    example = Example.make(max_length, max_batch)
    program = compile_program(
        _Step(model, all_logits).eval(),
        (*example.inputs, *allocate(shapes, example.batch, example.places)),
        dynamic_shapes=(*example.dims, [example.rows] * len(shapes), [example.rows] * len(shapes)),
        states=("keys", "values"),
        **options,
    )
    return replace_forward(model, Runner(model, program, len(shapes), example.chunk, max_length, max_batch, all_logits))


@dataclass(frozen=True)
class Example:
    """Example inputs of a step of a model: tokens, their mask, the mask for the tokens in the cache, positions.

    dims: the dynamic dims of the inputs. rows: those of a tensor that has the sequences as its first dim. batch: the
    number of sequences. chunk: the maximum number of tokens of a call. places: the number of places for tokens in the
    cache.
    """

    inputs: tuple[torch.Tensor, ...]
    dims: tuple[dict[int, Any], ...]
    rows: dict[int, Any]
    batch: int
    chunk: int
    places: int

    @staticmethod
    def make(max_length: int, max_batch: int, takes_one: bool = False) -> Example:
        """Returns the example for sequences of `max_length` tokens. takes_one: a call takes one token."""
        batch, count = _EXAMPLE if max_batch > 1 else 1, 1 if takes_one else _EXAMPLE
        chunk = 1 if takes_one else max(min(max_length, _CHUNK), LEAST_MAXIMUM)
        # There are places for a whole chunk after any number of tokens, so that all places that a call writes are known
        # to exist. One more place lets torch.export assume that the tokens never fill all of them.
        most = max(max_length, _EXAMPLE_PAST + 1)
        ids, mask = torch.zeros(batch, count, dtype=torch.int64), torch.ones(batch, count, dtype=torch.int64)
        past = torch.ones(batch, _EXAMPLE_PAST, dtype=torch.int64)
        positions = torch.arange(_EXAMPLE_PAST, _EXAMPLE_PAST + count).repeat(batch, 1)
        rows = {0: Dim("batch", min=1, max=max(max_batch, LEAST_MAXIMUM))} if max_batch > 1 else {}
        tokens = rows if takes_one else {**rows, 1: Dim("tokens", min=1, max=chunk)}
        dims = (tokens, tokens, {**rows, 1: Dim("past", min=0, max=most)}, tokens)
        return Example((ids, mask, past, positions), dims, rows, batch, chunk, most + chunk + 1)


def find_cache_name(model: PreTrainedModel) -> str:
    """Returns the name of the argument that is the cache."""
    accepted = inspect.signature(model.forward).parameters
    for name in _CACHE_NAMES:
        if name in accepted:
            return name
    raise UnsupportedError(
        f"expected a forward with an argument {' or '.join(_CACHE_NAMES)}, but that of {type(model).__name__} has none"
    )


def has_encoder(model: Any) -> bool:
    """Returns true if a model is an encoder-decoder."""
    return isinstance(model, PreTrainedModel) and bool(model.config.is_encoder_decoder)


def check_model(model: Any) -> None:
    if not isinstance(model, PreTrainedModel):
        raise ArgumentTypeError(f"expected a model of transformers, but got {type(model).__name__}")
    name = type(model).__name__
    if not model.can_generate():
        raise UnsupportedError(f"expected a model that can generate text, but {name} has no generate")
    if model.training:
        raise ArgumentValueError("expected a model in evaluation mode: call model.eval()")
    if model.device.type != "cpu":
        raise ArgumentValueError(f"expected a model on the CPU, but got one on {model.device}")


def check_sizes(model: PreTrainedModel, max_length: int, max_batch: int) -> None:
    for name, value, least in (("max_length", max_length, _EXAMPLE), ("max_batch", max_batch, 1)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise ArgumentTypeError(f"{name}: expected an int, but got {type(value).__name__}")
        if value < least:
            raise ArgumentValueError(f"{name}: expected at least {least}, but got {value}")
    known = getattr(model.config.get_text_config(decoder=True), "max_position_embeddings", None)
    if isinstance(known, int) and 0 < known < max_length:
        raise ArgumentValueError(
            f"max_length: expected at most the max_position_embeddings of the model's config, {known}, but got "
            f"{max_length}"
        )


def _find_shapes(model: PreTrainedModel) -> list[LayerShape]:
    """Runs the layers of a model on two tokens to see which keys and values they have."""
    layers = [ProbedLayer() for _ in range(model.config.get_text_config(decoder=True).num_hidden_layers)]
    arguments = {find_cache_name(model): Cache(layers=layers), "use_cache": True}
    try:
        with torch.no_grad(), _stopping_at(_find_head(model)):
            model(input_ids=torch.zeros(1, _EXAMPLE, dtype=torch.int64), **arguments)
    except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        raise UnsupportedError(
            f"expected a model whose state is keys and values, but {type(model).__name__} fails with such a cache: "
            f"{error}"
        ) from error
    shapes = []
    for number, layer in enumerate(layers):
        if layer.shape is None:
            raise UnsupportedError(
                f"expected a model whose layers all keep keys and values, but layer {number} of "
                f"{type(model).__name__} keeps none"
            )
        shapes.append(layer.shape)
    return shapes


def _find_head(model: PreTrainedModel) -> nn.Module | None:
    """Returns the module that computes the logits; None if it is unknown or if it also reads the tokens."""
    head = model.get_output_embeddings()
    return None if head is model.get_input_embeddings() else head


@contextlib.contextmanager
def _stopping_at(module: nn.Module | None) -> Iterator[None]:
    """Ends the body when it calls a module. The module with the logits may have most of the weights."""

    def stop(*_: object) -> None:
        raise _ReachedModule

    hook = None if module is None else module.register_forward_pre_hook(stop)
    try:
        yield
    except _ReachedModule:
        pass
    finally:
        if hook is not None:
            hook.remove()


class _ReachedModule(Exception):
    """A model has called the module at which it was to stop."""


class Runner:
    """Calls the program with the arguments that `generate` passes to a model."""

    prefix = ""
    """The beginning of the names of the arguments with tokens."""

    # Values that change nothing.
    _NEUTRAL: Mapping[str, Sequence[Any]] = {
        "use_cache": (None, True),
        "return_dict": (None, True),
        "output_attentions": (None, False),
        "output_hidden_states": (None, False),
    }

    def __init__(
        self,
        model: PreTrainedModel,
        program: CompiledModule,
        layers: int,
        chunk: int,
        max_length: int,
        max_batch: int,
        all_logits: bool,
    ) -> None:
        """chunk: the maximum number of tokens of a call of the program."""
        self.program, self.layers, self.chunk = program, layers, chunk
        self.max_length, self.max_batch = max_length, max_batch
        self.all_logits, self.cache_name = all_logits, find_cache_name(model)
        self.words = model.config.get_text_config(decoder=True).vocab_size
        # `generate` passes logits_to_keep to models that have it.
        keeps = "logits_to_keep" in inspect.signature(model.forward).parameters
        self.default_kept = 0 if keeps or all_logits else 1
        # The number of positions that the config allows. None or another value if it has no limit.
        self.positions = getattr(model.config.get_text_config(decoder=True), "max_position_embeddings", None)

    def new_cache(self) -> ProgramCache:
        return ProgramCache(self.program, self.layers, self.max_length)

    def save(self, config: Any, path: StrPath, weights_file: str | None, replace_weights: bool) -> None:
        """Writes the program and the settings of a generation config to a file."""
        settings = describe_generation(config, self.words, self.max_length, self.max_batch, self.chunk)
        self.program.save_with({"generation": settings}, path, weights_file, replace_weights=replace_weights)

    def take_source(self, arguments: dict[str, Any]) -> Any:
        """Removes the arguments of an encoder. Returns what `start` needs of them."""

    def start(self, cache: ProgramCache, source: Any, batch: int) -> None:
        """Prepares a cache for tokens of a batch."""

    def run(self, arguments: dict[str, Any]) -> tuple[torch.Tensor, ProgramCache]:
        """Adds tokens to a cache. Returns the logits and the cache."""
        source = self.take_source(arguments)
        names = tuple(self.prefix + name for name in ("input_ids", "attention_mask", "position_ids"))
        ids, mask, positions = (arguments.pop(name, None) for name in names)
        cache, kept = arguments.pop(self.cache_name, None), arguments.pop("logits_to_keep", self.default_kept)
        self.check_neutral(arguments)
        if not isinstance(ids, torch.Tensor) or ids.dim() != 2:
            raise ArgumentTypeError(f"{names[0]}: expected a tensor int64[batch, tokens]")
        cache = self.new_cache() if cache is None else self._check_cache(cache, ids)
        batch, count = ids.shape
        self._check_kept(kept, count)
        total = cache.length + count
        check_words(names[0], ids, self.words)
        if batch > self.max_batch:
            raise ArgumentValueError(
                f"{names[0]}: expected at most {self.max_batch} sequences, but got {batch}; compile with a larger "
                "max_batch. Each beam is a sequence"
            )
        if count == 0 or total > self.max_length:
            raise ArgumentValueError(
                f"{names[0]}: expected 1 to {self.max_length - cache.length} tokens, but got {count}: the cache has "
                f"room for max_length = {self.max_length} tokens and holds {cache.length}"
            )
        seen = self._check_mask(mask, batch, total)
        if positions is None:
            positions = torch.arange(cache.length, total).repeat(batch, 1)
        elif not isinstance(positions, torch.Tensor):
            raise ArgumentTypeError(f"{names[2]}: expected a tensor, but got {type(positions).__name__}")
        elif positions.dim() != 2 or positions.shape[0] not in (1, batch) or positions.shape[1] != count:
            raise ArgumentValueError(
                f"{names[2]}: expected dims [{batch}, {count}], as {names[0]} has, but got {list(positions.shape)}"
            )
        if isinstance(self.positions, int) and self.positions > 0:
            check_words(names[2], positions, self.positions, "positions")
        self.start(cache, source, batch)
        new = Tokens(ids, seen[:, cache.length :], positions.expand(batch, -1))
        logits = [self._add(part, seen[:, : cache.length], cache) for part in new.split(self.chunk)]
        made = torch.cat(logits, dim=1) if self.all_logits else logits[-1]
        return (made[:, -kept:] if kept else made), cache

    def check_neutral(self, arguments: Mapping[str, Any]) -> None:
        """Refuses arguments that would change something and have no place in the program."""
        for name, value in arguments.items():
            if not any(value is neutral for neutral in self._NEUTRAL.get(name, (None,))):
                raise UnsupportedError(f"a model compiled for text generation has no argument {name!r}")

    def _add(self, new: Tokens, seen: torch.Tensor, cache: ProgramCache) -> torch.Tensor:
        """Adds at most `chunk` tokens to a cache. Returns their logits. seen: the mask for the tokens in the cache.

        If the device fails, the cache is computed again from its tokens, where the program runs then.
        """
        try:
            logits = cache.step(new, seen)
        except DeviceError:
            cache.restart()
            known, first = cache.tokens, 0
            if known is not None:
                for part in known.split(self.chunk):
                    cache.step(part, known.mask[:, :first])
                    first += part.ids.shape[1]
            logits = cache.step(new, seen)
        cache.add(new)
        return logits

    def _check_cache(self, cache: Any, ids: torch.Tensor) -> ProgramCache:
        if not isinstance(cache, ProgramCache):
            raise ArgumentTypeError(
                f"{self.cache_name}: expected a cache from new_cache() of the compiled model, but got "
                f"{type(cache).__name__}"
            )
        if cache.program is not self.program:
            raise ArgumentValueError(f"{self.cache_name}: expected a cache of this model, but got one of another model")
        if cache.sequences not in (0, ids.shape[0]):
            raise ArgumentValueError(
                f"{self.prefix}input_ids: expected {cache.sequences} sequences, as the cache has, but got "
                f"{ids.shape[0]}"
            )
        return cache

    def _check_kept(self, kept: Any, count: int) -> None:
        """Checks the number of tokens whose logits are wanted. 0 stands for all tokens, as in transformers."""
        if not isinstance(kept, int):
            raise UnsupportedError(f"logits_to_keep: expected an int, but got {type(kept).__name__}")
        if not self.all_logits and (kept or count) != 1:
            raise UnsupportedError(
                f"logits_to_keep: expected 1, but got {kept}: the program computes the logits of the last token; "
                "compile with all_logits=True to have those of all tokens"
            )

    def limit_length(self, prompt: Any, options: dict[str, Any], default: Any) -> None:
        """Checks that the text of a call of `generate` fits into the cache, or limits a length that is a default.

        default: the generation config of the model.
        """
        given = options.get("generation_config")
        new = options.get("max_new_tokens", getattr(given, "max_new_tokens", None))
        total = options.get("max_length", getattr(given, "max_length", None))
        if new is None and total is None:
            new, total = default.max_new_tokens, default.max_length
            if max(new or 0, total or 0) > self.max_length:
                options["max_length"] = self.max_length
            return
        if new is not None and isinstance(prompt, torch.Tensor) and prompt.dim() == 2:
            total = prompt.shape[1] + new
        if total is not None and total > self.max_length:
            raise ArgumentValueError(
                f"expected at most {self.max_length} tokens in all, but got {total}: compile with a larger max_length"
            )

    def _check_mask(self, mask: torch.Tensor | None, batch: int, total: int) -> torch.Tensor:
        """Returns the mask for the tokens in the cache and the given ones: 1 for all of them by default."""
        if mask is None:
            return torch.ones(batch, total, dtype=torch.int64)
        name = f"{self.prefix}attention_mask"
        if not isinstance(mask, torch.Tensor):
            raise ArgumentTypeError(f"{name}: expected a tensor, but got {type(mask).__name__}")
        if mask.shape != (batch, total):
            raise ArgumentValueError(
                f"{name}: expected dims [{batch}, {total}], for the tokens in the cache and the given ones, but got "
                f"{list(mask.shape)}"
            )
        return mask.ne(0).to(torch.int64)


def check_words(name: str, ids: torch.Tensor, words: int, kind: str = "tokens") -> None:
    """Checks that tokens or positions are in their table: the embedding of a compiled model takes the nearest row."""
    if ids.is_floating_point() or not ids.numel():
        return  # the program or the check of the number of tokens refuses these
    low, high = (one.item() for one in ids.aminmax())
    if low < 0 or high >= words:
        raise ArgumentValueError(f"{name}: expected {kind} from 0 to {words - 1}, but got {low if low < 0 else high}")


def replace_forward(model: PreTrainedModel, runner: Runner) -> CompiledModel:
    """Returns a copy of a model, of a subclass of its class, whose forward calls the program."""
    original: Any = type(model)

    def forward(arguments: dict[str, Any]) -> Any:
        logits, cache = runner.run(arguments)
        return CausalLMOutputWithPast(logits=logits, **{runner.cache_name: cache})

    @functools.wraps(original.generate)
    def generate(self: Any, *args: Any, **kwargs: Any) -> Any:
        prompt = args[0] if args else kwargs.get("inputs", kwargs.get("input_ids"))
        runner.limit_length(prompt, kwargs, self.generation_config)
        if kwargs.get(runner.cache_name) is None:
            kwargs[runner.cache_name] = runner.new_cache()
        return original.generate(self, *args, **kwargs)

    def save(self: Any, path: StrPath, weights_file: str | None = None, replace_weights: bool = False) -> None:
        runner.save(self.generation_config, path, weights_file, replace_weights)

    members = {"forward": wrap_forward(original, forward), "generate": generate, "save": save}
    made = copy_model(model, members | assisted_decoding(original, runner))
    made.__dict__.update(program=runner.program, new_cache=runner.new_cache)
    return cast(CompiledModel, made)


def assisted_decoding(original: Any, runner: Runner) -> dict[str, Any]:
    """Returns the method of a class for assisted decoding, which refuses programs with the logits of one token."""

    @functools.wraps(original._assisted_decoding)
    def decode(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not runner.all_logits:
            raise UnsupportedError(
                "assisted decoding needs the logits of all tokens: compile with all_logits=True to have them"
            )
        return original._assisted_decoding(self, *args, **kwargs)

    return {"_assisted_decoding": decode}


def wrap_forward(original: Any, run: Callable[[dict[str, Any]], Any]) -> Callable[..., Any]:
    """Returns a method with the signature of the forward of a class. It passes its arguments by name."""
    signature = inspect.signature(original.forward)

    @functools.wraps(original.forward)
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        arguments = dict(signature.bind(self, *args, **kwargs).arguments)
        del arguments[next(iter(signature.parameters))]
        for parameter in signature.parameters.values():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                arguments.update(arguments.pop(parameter.name, {}))
        return run(arguments)

    return forward


def copy_module(module: nn.Module, members: Mapping[str, Any]) -> nn.Module:
    """Returns a copy of a module that shares its weights, of a subclass of its class with other members."""
    original: Any = type(module)
    made = copy.copy(module)
    # transformers decides some things by the name of the class.
    made.__class__ = type(original.__name__, (original,), {**members, "__module__": original.__module__})
    return made


def copy_model(model: PreTrainedModel, members: Mapping[str, Any]) -> Any:
    """Returns a copy of a model with other members, whose `generate` makes no cache of its own."""
    made: Any = copy_module(model, members)
    made.generation_config = copy.deepcopy(model.generation_config)
    made.generation_config.cache_implementation = None  # `generate` has a cache already
    return made
