# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bindings to libinlay_runtime.so: the functions and structures of inlay-c/runtime.h."""

import ctypes
import pathlib
from ctypes import POINTER, Structure, c_bool, c_char_p, c_int, c_int64, c_size_t, c_void_p

ABI = 1  # INLAY_RUNTIME_ABI of the header that these bindings follow
STATUS = (
    "ok",
    "invalid argument",
    "not found",
    "resource exhausted",
    "device lost",
    "unavailable",
    "stopped",
    "internal",
)
ELEMENTS = ("bool", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")

NOTICE = ctypes.CFUNCTYPE(None, c_char_p, c_void_p)
STOP = ctypes.CFUNCTYPE(c_bool, c_void_p)


class Error(RuntimeError):
    """An error of the runtime. `status` is one of the words of STATUS."""

    def __init__(self, message: str, status: str = "invalid argument") -> None:
        super().__init__(message)
        self.status = status


class OpenOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("device", c_char_p),
        ("public_key_file", c_char_p),
        ("without_recovery", c_bool),
        ("notice", NOTICE),
        ("stop", STOP),
        ("user_data", c_void_p),
    ]


class TensorInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("element", c_int),
        ("rank", c_size_t),
        ("dims", POINTER(c_int64)),
        ("type", c_char_p),
    ]


class Tensor(Structure):
    _fields_ = [("data", c_void_p), ("element", c_int), ("rank", c_size_t), ("dims", POINTER(c_int64))]


class Owner(Structure):
    _fields_ = [("object", c_void_p), ("release", c_void_p)]


_FUNCTIONS = {
    "inlayRuntimeAbi": (c_int, []),
    "inlayRuntimeVersion": (c_char_p, []),
    "inlayLastError": (c_char_p, []),
    "inlayOpenOptions": (OpenOptions, []),
    "inlayProgramOpen": (c_int, [c_char_p, POINTER(OpenOptions), POINTER(c_void_p)]),
    "inlayProgramClose": (None, [c_void_p]),
    "inlayProgramInputCount": (c_size_t, [c_void_p]),
    "inlayProgramOutputCount": (c_size_t, [c_void_p]),
    "inlayProgramInput": (c_int, [c_void_p, c_size_t, POINTER(TensorInfo)]),
    "inlayProgramOutput": (c_int, [c_void_p, c_size_t, POINTER(TensorInfo)]),
    "inlayProgramStateCount": (c_size_t, [c_void_p]),
    "inlayProgramState": (c_int, [c_void_p, c_size_t, POINTER(TensorInfo)]),
    "inlayProgramDevice": (c_char_p, [c_void_p]),
    "inlayProgramReport": (c_char_p, [c_void_p]),
    "inlayProgramMetadata": (c_char_p, [c_void_p]),
    "inlaySessionMake": (c_int, [c_void_p, POINTER(c_void_p)]),
    "inlaySessionFree": (None, [c_void_p]),
    "inlaySessionReset": (c_int, [c_void_p]),
    "inlaySessionRead": (c_int, [c_void_p, c_size_t, POINTER(c_void_p)]),
    "inlaySessionWrite": (c_int, [c_void_p, c_size_t, POINTER(Tensor)]),
    "inlaySessionRun": (
        c_int,
        [c_void_p, c_void_p, POINTER(Tensor), POINTER(Owner), c_size_t, POINTER(c_void_p), c_size_t],
    ),
    "inlayMarkReleased": (None, [c_void_p]),
    "inlayResultTensor": (Tensor, [c_void_p]),
    "inlayResultFree": (None, [c_void_p]),
}


def _open() -> ctypes.CDLL:
    library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "libinlay_runtime.so"))
    if (abi := library.inlayRuntimeAbi()) != ABI:
        raise ImportError(f"expected version {ABI} of libinlay_runtime.so's interface, but got {abi}")
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


library = _open()


def check(status: int) -> None:
    """Raises the error of this thread's last call if `status` is a failure."""
    if status != 0:
        raise Error(library.inlayLastError().decode(), STATUS[status])


def version() -> str:
    """Returns the version of Inlay that the library belongs to."""
    return str(library.inlayRuntimeVersion().decode())
