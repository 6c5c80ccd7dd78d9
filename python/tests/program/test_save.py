# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of saved models: they are loaded without compilation and have bit-identical results."""

import collections
import dataclasses
import json
import os
import pathlib
import subprocess
import sys

import inlay
import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.utils import _pytree as pytree

TARGETS = [("host",), ("vulkan", "host")]


@pytest.fixture(params=TARGETS, ids=["host", "vulkan"])
def targets(request):
    return request.param


def x(*dims):
    return torch.randn(dims, generator=torch.Generator().manual_seed(0))


def saved(model, inputs, path, targets=("host",), **options):
    """Returns a compiled model, and the same model loaded from a file."""
    compiled = inlay.compile(model, inputs, targets=targets, **options)
    compiled.save(path)
    return compiled, inlay.load(path)


def check_same(compiled, loaded, *args, **kwargs):
    """Asserts that both models return bit-identical results in the same structure."""
    want, got = compiled(*args, **kwargs), loaded(*args, **kwargs)
    wants, spec = pytree.tree_flatten(want)
    gots, got_spec = pytree.tree_flatten(got)
    assert spec == got_spec
    for one, other in zip(wants, gots, strict=True):
        if isinstance(one, torch.Tensor):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            assert torch.equal(one.contiguous().view(torch.uint8), other.contiguous().view(torch.uint8))
        else:
            assert type(one) is type(other) and one == other
    return got


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + x)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.blocks = nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.Sequential(Block(8), Block(8))
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        return self.fc(self.blocks(torch.relu(self.stem(x))).mean((2, 3)))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0, batch_first=True)
        self.layers, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(16, 20)

    def forward(self, tokens):
        return self.head(self.layers(self.embed(tokens)))


def test_a_resnet_comes_back(tmp_path, targets):
    torch.manual_seed(0)
    compiled, loaded = saved(ResNet().eval(), (x(2, 3, 16, 16),), tmp_path / "m.inlay", targets)
    check_same(compiled, loaded, x(2, 3, 16, 16))
    assert loaded.report == compiled.report
    assert loaded.device == compiled.device
    assert str(loaded.report) == str(compiled.report)


def test_a_transformer_comes_back(tmp_path, targets):
    torch.manual_seed(0)
    tokens = torch.arange(12).reshape(2, 6)
    compiled, loaded = saved(Transformer().eval(), (tokens,), tmp_path / "m.inlay", targets)
    check_same(compiled, loaded, tokens)


def test_dynamic_sizes_come_back(tmp_path, targets):
    class Model(nn.Module):
        def forward(self, x, y):
            return torch.cat([x.flatten(1) * 2, y], 0), x.shape[0] + y.shape[0]

    batch, other = torch.export.Dim("batch", min=2, max=9), torch.export.Dim("other", min=1, max=20)
    compiled, loaded = saved(
        Model(),
        (x(4, 2, 3), x(5, 6)),
        tmp_path / "m.inlay",
        targets,
        dynamic_shapes={"x": {0: batch}, "y": {0: other}},
    )
    assert loaded.symbols == compiled.symbols
    for sizes in ((4, 5), (2, 20), (9, 3)):
        check_same(compiled, loaded, x(sizes[0], 2, 3), x(sizes[1], 6))
    for wrong in ((10, 5), (4, 21)):
        messages = []
        for model in (compiled, loaded):
            with pytest.raises(inlay.SizesError) as caught:
                model(x(wrong[0], 2, 3), x(wrong[1], 6))
            messages.append(str(caught.value))
        assert messages[0] == messages[1]


def test_conditions_on_sizes_are_kept(tmp_path):
    class Model(nn.Module):
        def forward(self, x):
            return x.reshape(-1, 4) + 1

    n = torch.export.Dim("n", min=1, max=8)
    compiled, loaded = saved(Model(), (x(3, 8),), tmp_path / "m.inlay", dynamic_shapes=({0: n},))
    for size in (1, 3, 8):
        check_same(compiled, loaded, x(size, 8))


Pair = collections.namedtuple("Pair", "first second")


def test_arguments_and_results_keep_their_structure(tmp_path):
    class Model(nn.Module):
        def forward(self, pair, scale=2.0, *, extra, flag=True):
            total = pair[0] + pair[1]["b"] * scale
            return {"sum": total, "rest": [extra - 1, None, 3, "text", (total if flag else extra)]}

    args = ((x(3), {"b": x(3)}),)
    compiled, loaded = saved(Model(), {"pair": args[0], "extra": x(3)}, tmp_path / "m.inlay")
    check_same(compiled, loaded, pair=args[0], extra=x(3))
    check_same(compiled, loaded, *args, extra=x(3))
    for wrong in ({"pair": args[0]}, {"pair": args[0], "extra": x(4)}, {"pair": args[0], "extra": x(3), "flag": False}):
        messages = []
        for model in (compiled, loaded):
            with pytest.raises(inlay.Error) as caught:
                model(**wrong)
            messages.append((type(caught.value), str(caught.value)))
        assert messages[0] == messages[1]


def test_every_dtype_comes_back(tmp_path):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int64, torch.bool):
                self.register_buffer("as_" + str(dtype)[6:], torch.tensor([0, 1, 1], dtype=dtype))

        def forward(self, x):
            return [x.to(buffer.dtype) if buffer.dtype == torch.bool else buffer + 1 for buffer in self.buffers()], x

    compiled, loaded = saved(Model(), (x(3),), tmp_path / "m.inlay")
    check_same(compiled, loaded, x(3))


def test_a_result_that_is_a_weight_comes_back(tmp_path):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(x(2, 3))

        def forward(self, x):
            return x + 1, self.weight

    compiled, loaded = saved(Model(), (x(3),), tmp_path / "m.inlay")
    check_same(compiled, loaded, x(3))


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x):
        self.count.add_(x)
        return self.count * 2


def test_buffers_that_the_model_writes_go_on_from_where_they_were(tmp_path, targets):
    compiled = inlay.compile(Counter(), (x(2),), targets=targets)
    compiled(x(2))
    compiled.save(tmp_path / "m.inlay")
    loaded = inlay.load(tmp_path / "m.inlay")
    for _ in range(3):
        check_same(compiled, loaded, x(2))
    loaded.save(tmp_path / "again.inlay")
    check_same(loaded, inlay.load(tmp_path / "again.inlay"), x(2))


def test_the_weights_are_those_of_the_moment(tmp_path, targets):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(8, 4), nn.Linear(4, 3))
    image = x(2, 3, 3, 3)  # devices store the weights of the first two in another order
    compiled = inlay.compile(model, (image,), targets=targets)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1)  # the next call uses them
    compiled.save(tmp_path / "m.inlay")
    loaded = inlay.load(tmp_path / "m.inlay")
    check_same(compiled, loaded, image)
    torch.testing.assert_close(loaded(image), model(image), rtol=1e-5, atol=1e-5)
    compiled.load_state_dict({name: x(*value.shape) for name, value in model.state_dict().items()})
    compiled.save(tmp_path / "m.inlay")
    replaced = inlay.load(tmp_path / "m.inlay")
    check_same(compiled, replaced, image)
    assert not torch.equal(replaced(image), loaded(image)), "the one that was loaded stays what it was"


def test_a_loaded_model_is_saved_as_it_was(tmp_path):
    torch.manual_seed(0)
    _, loaded = saved(ResNet().eval(), (x(2, 3, 16, 16),), tmp_path / "m.inlay")
    loaded.save(tmp_path / "n.inlay")
    assert (tmp_path / "m.inlay").read_bytes() == (tmp_path / "n.inlay").read_bytes()


def test_two_compilations_give_the_same_file(tmp_path, targets):
    for name in ("a.inlay", "b.inlay"):
        torch.manual_seed(0)
        inlay.compile(Transformer().eval(), (torch.arange(12).reshape(2, 6),), targets=targets).save(tmp_path / name)
    assert (tmp_path / "a.inlay").read_bytes() == (tmp_path / "b.inlay").read_bytes()


def test_weights_may_lie_in_a_file_beside_it(tmp_path):
    torch.manual_seed(0)
    compiled = inlay.compile(nn.Linear(64, 32), (x(2, 64),), targets=("host",))
    compiled.save(tmp_path / "m.inlay", weights_file="w.safetensors")
    check_same(compiled, inlay.load(tmp_path / "m.inlay"), x(2, 64))
    data = (tmp_path / "w.safetensors").read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert {entry["dtype"] for entry in header.values()} == {"F32"}
    (tmp_path / "w.safetensors").unlink()
    with pytest.raises(inlay.Error, match=r"weights file 'w.safetensors': can't be opened: No such file"):
        inlay.load(tmp_path / "m.inlay")
    with pytest.raises(ValueError, match="expected the name of a file in the container's folder"):
        compiled.save(tmp_path / "m.inlay", weights_file="../w.safetensors")


def test_a_weights_file_that_another_program_needs_is_kept(tmp_path):
    torch.manual_seed(0)
    first, second = (inlay.compile(nn.Linear(8, 4), (x(2, 8),), targets=("host",)) for _ in range(2))
    first.save(tmp_path / "first.inlay", weights_file="w.safetensors")
    first.save(tmp_path / "again.inlay", weights_file="w.safetensors")
    with pytest.raises(ValueError, match=r"'w.safetensors': exists with other contents, .*replace_weights"):
        second.save(tmp_path / "second.inlay", weights_file="w.safetensors")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.inlay", "first.inlay", "w.safetensors"]
    check_same(first, inlay.load(tmp_path / "first.inlay"), x(2, 8))
    second.save(tmp_path / "second.inlay", weights_file="w.safetensors", replace_weights=True)
    check_same(second, inlay.load(tmp_path / "second.inlay"), x(2, 8))
    with pytest.raises(inlay.Error, match=r"weights file 'w.safetensors': its bytes don't match"):
        inlay.load(tmp_path / "first.inlay")


def test_another_process_loads_it_and_compiles_nothing(tmp_path, targets):
    torch.manual_seed(0)
    compiled = inlay.compile(ResNet().eval(), (x(2, 3, 16, 16),), targets=targets)
    compiled.save(tmp_path / "m.inlay")
    torch.save((x(2, 3, 16, 16), compiled(x(2, 3, 16, 16))), tmp_path / "data.pt")
    code = (
        "import sys, torch, inlay\n"
        "given, wanted = torch.load(sys.argv[2])\n"
        "assert torch.equal(inlay.load(sys.argv[1])(given), wanted)\n"
        "assert inlay._compile.imported.compilation_count() == 0\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "m.inlay", tmp_path / "data.pt"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_profile_and_memory_are_those_of_the_compiled_one(tmp_path):
    compiled, loaded = saved(nn.Linear(4, 4), (x(2, 4),), tmp_path / "m.inlay")
    assert loaded.memory(x(2, 4)) == compiled.memory(x(2, 4))
    assert [step[:2] for step in loaded.profile(x(2, 4))] == [step[:2] for step in compiled.profile(x(2, 4))]


# -- Errors -----------------------------------------------------------------------------------------------------------


class Framework(nn.Module):
    def forward(self, x):
        return torch.linalg.inv(torch.relu(x) + torch.eye(3)) * 2


def test_segments_in_pytorch_are_refused_with_a_list(tmp_path):
    compiled = inlay.compile(Framework(), (x(3, 3),), targets=("host", "torch"))
    with pytest.raises(
        inlay.UnsupportedError, match=r"2 of the program's steps run in PyTorch.*segment 1 \(aten\.linalg_inv"
    ):
        compiled.save(tmp_path / "m.inlay")
    assert not list(tmp_path.iterdir())
    compiled.save(tmp_path / "m.inlay", allow_framework=True)
    check_same(compiled, inlay.load(tmp_path / "m.inlay"), x(3, 3))


def test_files_that_are_no_models_are_refused(tmp_path):
    compiled = inlay.compile(nn.ReLU(), (x(3),), targets=("host",))
    path = tmp_path / "m.inlay"
    compiled.save(path)
    good = path.read_bytes()
    with pytest.raises(inlay.Error, match="can't be opened: No such file or directory"):
        inlay.load(tmp_path / "none.inlay")
    for bad, text in [
        (b"", "is empty"),
        (b"PK\3\4", "is not an inlay container"),
        (good[:500], "is truncated: its header says"),
        (good[:-1] + bytes([good[-1] ^ 1]), "is damaged: its bytes don't match its hash"),
        (good[:8] + b"\2" + good[9:], "expected format version 6.x, but got 2.0"),
    ]:
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=f"m.inlay': {text}"):
            inlay.load(path)
    with pytest.raises(ValueError, match="is a directory"):
        inlay.load(tmp_path)


def test_a_key_asks_for_a_signature(tmp_path):
    inlay.compile(nn.ReLU(), (x(3),), targets=("host",)).save(tmp_path / "m.inlay")
    key = tmp_path / "key.pem"
    key.write_text(
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
        "-----END PUBLIC KEY-----\n"
    )
    with pytest.raises(inlay.Error, match=r"m\.inlay\.sig': can't be opened"):
        inlay.load(tmp_path / "m.inlay", public_key=key)


class Results(nn.Module):
    """A model that returns the result of a function."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def forward(self, x):
        return self.make(x + 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda one: collections.OrderedDict(b=one, a=[one * 2]),
        lambda one: collections.deque([one], 3),
        lambda one: {1: one, "a": (), None: [{}]},
    ],
    ids=["OrderedDict", "deque", "dict"],
)
def test_containers_come_back(tmp_path, make):
    check_same(*saved(Results(make), (x(3),), tmp_path / "m.inlay"), x(3))


def test_registered_classes_come_back(tmp_path, registered):
    check_same(*saved(Results(lambda one: registered(one, one * 2)), (x(3),), tmp_path / "m.inlay"), x(3))


@dataclasses.dataclass
class Both:
    first: torch.Tensor
    second: torch.Tensor


@pytest.fixture(params=[Pair, Both], ids=["namedtuple", "dataclass"])
def registered(request):
    name = f"test_save.{request.param.__name__}"
    if request.param is Pair:
        pytree._register_namedtuple(Pair, serialized_type_name=name)
    else:
        torch.export.register_dataclass(Both, serialized_type_name=name)
    yield request.param
    pytree._deregister_pytree_node(request.param)


@pytest.mark.parametrize(
    "make",
    [
        lambda one: collections.defaultdict(list, a=one),
        lambda one: collections.defaultdict(None, a=one),
        lambda one: {(1, 2): one},
        lambda one: collections.namedtuple("Other", "first")(one),
    ],
    ids=["defaultdict", "without a factory", "tuple as a key", "namedtuple"],
)
def test_structures_that_a_file_cant_hold_are_refused(tmp_path, make):
    compiled = inlay.compile(Results(make), (x(3),), targets=("host",))
    with pytest.raises(inlay.UnsupportedError, match="the structure of the model's results can't be saved: "):
        compiled.save(tmp_path / "m.inlay")
    assert not list(tmp_path.iterdir())


class Place:
    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return self.path


def test_odd_paths_are_refused(tmp_path):
    compiled = inlay.compile(nn.ReLU(), (x(3),), targets=("host",))
    good = tmp_path / "m.inlay"
    compiled.save(Place(str(good)))
    inlay.load(Place(str(good)))
    for odd, error, text in [
        (f"{tmp_path}/a\0b.inlay", inlay.ArgumentValueError, "to have no NUL characters, but got"),
        (f"{tmp_path}/\udc80", inlay.ArgumentValueError, "to be valid UTF-8, but got"),
        (os.fsencode(good), inlay.ArgumentTypeError, "to be a path of type str, but got type bytes"),
        (Place(os.fsencode(good)), inlay.ArgumentTypeError, "to be a path of type str, but got type bytes"),
        (3, inlay.ArgumentTypeError, "to be a str or os.PathLike, but got int"),
    ]:
        for what, call in [
            ("path", lambda odd: compiled.save(odd)),
            ("path", lambda odd: inlay.load(odd)),
            ("weights_file", lambda odd: compiled.save(good, weights_file=odd)),
            ("public_key", lambda odd: inlay.load(good, public_key=odd)),
        ]:
            with pytest.raises(error, match=f"expected {what} {text}"):
                call(odd)
    assert list(tmp_path.iterdir()) == [good]


def test_odd_devices_are_refused(tmp_path):
    inlay.compile(nn.ReLU(), (torch.ones(3),), targets=("host",)).save(tmp_path / "m.inlay")
    for device, error, text in (
        ("\ud800", inlay.ArgumentValueError, "expected device to be valid UTF-8"),
        ("a\0", inlay.ArgumentValueError, "expected device to have no NUL"),
        (3, inlay.ArgumentTypeError, "expected device to be a str, but got int"),
    ):
        with pytest.raises(error, match=text):
            inlay.load(tmp_path / "m.inlay", device=device)


def test_a_key_without_a_name_is_refused(tmp_path):
    inlay.compile(nn.ReLU(), (x(3),), targets=("host",)).save(tmp_path / "m.inlay")
    with pytest.raises(inlay.ArgumentValueError, match="expected public_key to be the name of a PEM file"):
        inlay.load(tmp_path / "m.inlay", public_key="")


def test_what_another_tool_saved_takes_its_inputs_by_place(tmp_path, targets):
    tool = pathlib.Path(inlay.__file__).parents[2] / "bin" / "inlay-compile"
    (tmp_path / "m.mlir").write_text(
        "func.func public @f(%x: tensor<?x3xf32>, %y: tensor<3xf32>) -> (tensor<?x3xf32>, tensor<?x6xf32>) {\n"
        "  %0 = inlay.add %x, %y : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>\n"
        "  %1 = inlay.cat %0, %x dim 1 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x6xf32>\n"
        "  return %0, %1 : tensor<?x3xf32>, tensor<?x6xf32>\n}\n"
    )
    command = [tool, f"--targets={','.join(targets)}", "--input-shape=x:n=1..8x3", tmp_path / "m.mlir"]
    subprocess.run([*command, "-o", tmp_path / "m.inlay"], check=True)
    loaded = inlay.load(tmp_path / "m.inlay")
    assert loaded.symbols == {"n": (1, 8)}
    a, b = loaded(x(5, 3), x(3))
    assert torch.equal(a, x(5, 3) + x(3))
    assert torch.equal(b, torch.cat([a, x(5, 3)], 1))
    with pytest.raises(inlay.SizesError, match=r"dim 0 \('n'\) is 9, but expected 1 to 8"):
        loaded(x(9, 3), x(3))


def test_a_loaded_model_has_no_names_for_its_weights(tmp_path):
    _, loaded = saved(nn.Linear(4, 3), (x(2, 4),), tmp_path / "m.inlay")
    with pytest.raises(inlay.UnsupportedError, match="weights of a loaded model have no names"):
        loaded.state_dict()
    with pytest.raises(inlay.UnsupportedError, match="can't be replaced"):
        loaded.load_state_dict({})


def test_a_forked_process_may_load_what_needs_no_device(tmp_path):
    inlay.compile(nn.ReLU(), (x(3),), targets=("vulkan", "host")).save(tmp_path / "vulkan.inlay")
    inlay.compile(nn.ReLU(), (x(3),), targets=("host",)).save(tmp_path / "host.inlay")
    child = os.fork()
    if child == 0:
        try:
            inlay.load(tmp_path / "host.inlay")(x(3))
            inlay.load(tmp_path / "vulkan.inlay")
        except inlay.DeviceError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_forked_process_may_load_all_if_it_wants_no_device(tmp_path, monkeypatch):
    inlay.compile(nn.ReLU(), (x(3),), targets=("vulkan", "host")).save(tmp_path / "m.inlay")
    monkeypatch.delenv("INLAY_DEVICE", raising=False)
    child = os.fork()
    if child == 0:
        try:
            loaded = inlay.load(tmp_path / "m.inlay", device="none")
            assert torch.equal(loaded(x(3)), x(3).relu()) and loaded.device == ""
            os.environ["INLAY_DEVICE"] = "none"
            assert torch.equal(inlay.load(tmp_path / "m.inlay")(x(3)), x(3).relu())
            os._exit(0)
        except BaseException as error:  # must not return to pytest, which runs in the parent
            print(error, file=sys.stderr, flush=True)
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_conditions_that_only_python_checks(tmp_path):
    """The dialect has no floats in conditions on sizes, so other callers of a saved model would not check them."""

    class Model(nn.Module):
        def forward(self, a):
            return a * 2 if int(a.shape[0] * 1.3) > 5 else a

    compiled = inlay.compile(Model(), (torch.ones(6),), dynamic_shapes=({0: Dim.AUTO},), targets=("host",))
    for allowed in (False, True):
        with pytest.raises(inlay.UnsupportedError, match=r"needs sizes for which .*1\.3.*, which no file can hold"):
            compiled.save(tmp_path / "m.inlay", allow_framework=allowed)
