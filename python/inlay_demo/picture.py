# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a photograph of a page with two trained ONNX models, PP-OCRv6, compiled for Vulkan and the host.

One model finds the lines of text in the picture, the other one reads them. Prints the text, the target of each op, and
the time of a call. The method is that of PaddleOCR, but lines are found by rows only, since the page is upright.
"""

import importlib.util
import itertools
import pathlib
import time
from typing import TYPE_CHECKING, NamedTuple

import inlay
import torch
from torch.nn import functional as F

from .measure import ModelUnavailableError, format_times

if TYPE_CHECKING:
    import onnx

NAME, PACKAGE = "PP-OCRv6", "rapidocr"
PICTURE, PICTURE_PACKAGE = "data/page.png", "scikit-image"

TOLERANCE = 1e-4  # The largest absolute difference in a probability.
WARM_UP_CALLS = 1
CALLS = 5
MIN_PROBABILITY = 0.3  # that a pixel belongs to text
MIN_HEIGHT = 14  # of a line of text in pixels of the enlarged picture; smaller ones are cut off by the border
LINE_HEIGHT = 48  # of the input of the model that reads
SCALE = 2  # from the picture to the input of the model that finds lines


def find_file(module: str, file: str, model: str, package: str) -> pathlib.Path:
    """Returns the path of a file in an installed package, which is not imported."""
    spec = importlib.util.find_spec(module)
    path = pathlib.Path(spec.origin).parent / file if spec is not None and spec.origin else None
    if path is None or not path.exists():
        raise ModelUnavailableError(model, package, f"no file {file} of the module {module}")
    return path


def load_picture() -> torch.Tensor:
    """Returns the picture: float32 [3, height, width], RGB from 0 to 1."""
    path = find_file("skimage", PICTURE, "the picture", PICTURE_PACKAGE)
    try:
        from PIL import Image
    except ImportError as error:
        raise ModelUnavailableError("the picture", "pillow", error) from error
    with Image.open(path) as image:
        pixels = torch.frombuffer(bytearray(image.convert("RGB").tobytes()), dtype=torch.uint8)
        return pixels.reshape(image.height, image.width, 3).permute(2, 0, 1) / 255


def resize(picture: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """Returns the picture in another size."""
    return F.interpolate(picture[None], (height, width), mode="bilinear", antialias=True)[0]


def prepare_page(picture: torch.Tensor) -> torch.Tensor:
    """Returns the input of the model that finds lines: [1, 3, height, width], enlarged to multiples of 32."""
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    height, width = (-(-size * SCALE // 32) * 32 for size in picture.shape[1:])
    return ((resize(picture, height, width) - mean[:, None, None]) / deviation[:, None, None])[None]


class Line(NamedTuple):
    """The place of a line of text. The numbers are shares of the height and the width of the picture."""

    top: float
    bottom: float
    left: float
    right: float


def find_lines(probabilities: torch.Tensor) -> list[Line]:
    """Returns the lines of text, from top to bottom.

    probabilities: [1, 1, height, width], that a pixel belongs to the middle of a line.
    """
    is_text = probabilities[0, 0] > MIN_PROBABILITY
    height, width = is_text.shape
    lines = []
    for has_text, numbers in itertools.groupby(range(height), key=lambda row: bool(is_text[row].any())):
        rows = list(numbers)
        if has_text and len(rows) >= MIN_HEIGHT and rows[-1] < height - 1:
            columns = is_text[rows].any(0).nonzero().flatten().tolist()
            margin = 0.35 * len(rows)  # around the middle of the line
            top, bottom = max(rows[0] - margin, 0), min(rows[-1] + margin, height)
            left, right = max(columns[0] - margin, 0), min(columns[-1] + margin, width)
            lines.append(Line(top / height, bottom / height, left / width, right / width))
    return lines


def cut_lines(picture: torch.Tensor, lines: list[Line]) -> torch.Tensor:
    """Returns the input of the model that reads: [lines, 3, LINE_HEIGHT, width], padded to the longest line."""
    height, width = picture.shape[1:]
    cut = []
    for line in lines:
        rows = slice(int(line.top * height), int(line.bottom * height) + 1)
        part = picture[:, rows, int(line.left * width) : int(line.right * width) + 1]
        cut.append(resize(part, LINE_HEIGHT, LINE_HEIGHT * part.shape[2] // part.shape[1]) * 2 - 1)
    longest = -(-max(part.shape[2] for part in cut) // 32) * 32
    return torch.stack([F.pad(part, (0, longest - part.shape[2])) for part in cut])


def read_text(model: "onnx.ModelProto", probabilities: torch.Tensor) -> list[str]:
    """Returns the text of each line.

    model: it has the characters in its metadata. probabilities: [lines, steps, characters], where character 0 is blank.
    Equal characters of neighboring steps are one (connectionist temporal classification, Graves et al., 2006).
    """
    listed = next(entry.value for entry in model.metadata_props if entry.key == "character")
    characters = ["", *listed.split("\n"), " "]
    return [
        "".join(characters[number] for number, _ in itertools.groupby(line)).strip()
        for line in probabilities.argmax(2).tolist()
    ]


def show() -> bool:
    """Compiles and runs both models, prints the text, and returns true if the results are close to PyTorch's.

    Raises ModelUnavailableError.
    """
    paths = [find_file("rapidocr", f"models/PP-OCRv6_{part}_small.onnx", NAME, PACKAGE) for part in ("det", "rec")]
    import onnx  # a dependency of inlay[onnx]

    picture = load_picture()
    page = prepare_page(picture)
    start = time.perf_counter()
    finder = inlay.compile(paths[0], (page,), targets=("vulkan", "host"))
    seconds = time.perf_counter() - start
    where = finder(page)
    lines = cut_lines(picture, find_lines(where))
    model = onnx.load(paths[1])
    start = time.perf_counter()
    reader = inlay.compile(model, (lines,), targets=("vulkan", "host"))
    seconds += time.perf_counter() - start
    read = reader(lines)

    # PyTorch runs the same calls: the ONNX models have no PyTorch module.
    finder_torch, reader_torch = (
        inlay.compile(path, (inputs,), targets=("torch",)) for path, inputs in zip(paths, (page, lines), strict=True)
    )
    differences = [
        float((got - want).abs().max()) for got, want in ((where, finder_torch(page)), (read, reader_torch(lines)))
    ]
    right = max(differences) <= TOLERANCE
    contenders = {
        "Vulkan": lambda: reader(lines),
        f"PyTorch, {torch.get_num_threads()} threads": lambda: reader_torch(lines),
    }
    version = next(entry.version for entry in model.opset_import if entry.domain == "")
    print(
        f"{NAME}, ONNX with ops of version {version}, reads a photograph of a page ({PICTURE} of {PICTURE_PACKAGE}):\n"
    )
    print("\n".join(f"  | {text}" for text in read_text(model, read)))
    verdict = "right" if right else f"WRONG: more than {TOLERANCE:.0e}"
    print(f"\nlargest difference from PyTorch in a probability: {max(differences):.1e}: {verdict}\n")
    print(f"device: {reader.device or 'none, so all of it runs on the host'}; both compiled in {seconds:.1f} s")
    print(f"finds lines: {finder.report}")
    print(f"reads {len(lines)} lines: {reader.report}\n")
    print(format_times(contenders, WARM_UP_CALLS, CALLS))
    return right
