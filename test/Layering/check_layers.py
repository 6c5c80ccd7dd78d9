"""The layers of include/inlay and lib: which library and which folder may include which, and which headers are public.

Three rules follow from the two tables below.
1. An include goes to the same folder or along an arrow of the tables.
2. A private header, which lies in lib, is for its own library. "Partition/Analysis/OpKinds.h" names it from another
   folder of the library, "OpKinds.h" from the same folder. Unit tests may include any header.
3. A public header, which lies in include/inlay, has a reader outside its library, or a public header includes it.
"""

import pathlib
import re
from collections import defaultdict
from collections.abc import Iterator

from source_tree import Finding, Source

DIALECTS = ["Support", "Dialect/Inlay/IR", "Dialect/Plan/IR"]
PHASES = ["Import", "Rewrite", "Shape", "Partition", "Convert", "Stitch"]
TARGETS = ["Target/Host", "Target/Vulkan", "Target/Torch"]
RUNTIME = [f"Runtime/{name}" for name in ("Core", "Container", "Host", "Vulkan", "Report", "Loader", "CAPI")]

# Each library with the libraries that it may include. A row lists only rows above it.
LIBRARIES = {
    "Support": [],
    "Scheduling": ["Support"],
    "Dialect/Inlay/IR": ["Support"],
    "Dialect/Plan/IR": ["Support", "Dialect/Inlay/IR"],
    # The phases are siblings: they meet in the IR alone.
    "Import": DIALECTS,
    "Rewrite": DIALECTS,
    "Shape": DIALECTS,
    "Partition": [*DIALECTS, "Scheduling"],
    "Convert": DIALECTS,
    "Stitch": DIALECTS,
    # So are the targets.
    "Target/Host": [*DIALECTS, "Convert"],
    "Target/Vulkan": [*DIALECTS, "Convert"],
    "Target/Torch": [*DIALECTS, "Convert"],
    "Pipeline": [*DIALECTS, *PHASES, *TARGETS],
    # The runtime knows nothing of the compiler.
    "Runtime/Core": [],
    "Runtime/Container": ["Runtime/Core"],
    "Runtime/Host": ["Runtime/Core"],
    "Runtime/Vulkan": ["Runtime/Core"],
    "Runtime/Report": ["Runtime/Core", "Runtime/Container"],
    "Runtime/Loader": ["Runtime/Core", "Runtime/Container", "Runtime/Host", "Runtime/Vulkan"],
    "Runtime/CAPI": ["Runtime/Core", "Runtime/Container", "Runtime/Loader"],
    "Execution": [*DIALECTS, *PHASES, *TARGETS, "Pipeline", *RUNTIME],
    "CAPI": ["Support", "Rewrite", "Pipeline", "Execution", *RUNTIME],
}

# Each folder of a library with the folders of the same library that it may include. A row lists only rows above it.
# "." stands for the sources beside the folders. Public headers beside the folders are for all of them.
FOLDERS = {
    "Convert": {
        "GraphToLinalg": [],
        "LoopNest": [],
        "Bufferize": ["GraphToLinalg", "LoopNest"],
        "Pipeline": ["GraphToLinalg", "Bufferize"],
    },
    "Partition": {
        "Analysis": [],
        "Decide": ["Analysis"],
        "Cost": ["Analysis", "Decide"],
        "Form": ["Analysis", "Decide", "Cost"],
        "Report": ["Analysis", "Decide", "Cost"],
        "Verify": ["Analysis"],  # an independent check: it must not share code with what it checks
        "Passes": ["Analysis", "Decide", "Cost", "Form", "Report", "Verify"],
    },
    "Rewrite": {
        "Graph": [],
        "PDL": ["Graph"],
        "Driver": ["Graph", "PDL"],
        "Check": ["Graph", "PDL"],
        "Library": [],
        "Passes": ["Graph", "PDL", "Driver", "Check", "Library"],
    },
    "Target/Host": {
        "Kernels": [],
        "LibraryCalls": [],
        "LLVM": [],
        ".": ["Kernels", "LibraryCalls", "LLVM"],
    },
    "Target/Vulkan": {
        "Products": [],
        "Blocks": ["Products"],
        "GPU": ["Products", "Blocks"],
        "Rows": ["GPU"],
        "SPIRV": [],
        "Engine": ["SPIRV"],
        ".": ["GPU", "Rows", "SPIRV", "Engine"],
    },
    "Runtime/Core": {
        "Plan": [],
        "Memory": [],
        "Trace": [],
        "Schedule": [],
        "Execute": ["Plan", "Memory"],
        "Recovery": ["Execute"],
    },
    "Runtime/Host": {
        "Support": [],
        "Portable": ["Support"],
        "Linker": ["Support"],
        "OneDnn": ["Support"],
        "Kernels": ["Support", "Portable"],
    },
    "Runtime/Vulkan": {
        "Device": [],
        "Memory": ["Device"],
        "Pipeline": ["Device"],
        "Engine": ["Device", "Memory", "Pipeline"],
        "mgpu": ["Pipeline"],
        ".": ["Engine"],
    },
}

COMPILER_HEADERS = ("mlir", "mlir-c", "llvm", "llvm-c")
INCLUDE = re.compile(r'\s*#?\s*include\s+["<]([^">]+)[">]')

Place = tuple[str, str]  # a library and a folder of it, "." for files beside the folders
PurePath = pathlib.PurePath


def check_order(rows: dict[str, list[str]]) -> None:
    """Raises an error unless each row lists only rows above it, which rules out circles."""
    above: set[str] = set()
    for name, wanted in rows.items():
        if not set(wanted) <= above:
            raise ValueError(f"the row of '{name}' lists {sorted(set(wanted) - above)}, which don't stand above it")
        above.add(name)


for table in (LIBRARIES, *FOLDERS.values()):
    check_order(table)


def knows_no_compiler(library: str) -> bool:
    """Returns true if `library` must compile without MLIR and LLVM."""
    return library == "Scheduling" or library.startswith("Runtime/")


def find_place(inside: PurePath) -> Place | None:
    """Returns the place of a file by its path inside include/inlay or lib, or None if no library holds it."""
    folders = inside.parts[:-1]
    for length in range(len(folders), 0, -1):
        library = "/".join(folders[:length])
        if library in LIBRARIES:
            return library, (folders[length] if length < len(folders) else ".")
    return None


def spell(place: Place) -> str:
    library, folder = place
    return library if folder == "." else f"{library}/{folder}"


def has_arrow(source: Place, wanted: Place, is_public: bool) -> bool:
    if source[0] != wanted[0]:
        return wanted[0] in LIBRARIES[source[0]]
    if source[1] == wanted[1] or (is_public and wanted[1] == "."):
        return True
    return wanted[1] in FOLDERS.get(source[0], {}).get(source[1], [])


class Layers:
    """The includes of the tree, and the checks of them."""

    def __init__(self, sources: list[Source]) -> None:
        self._sources = sources
        self._names = {source.name for source in sources}
        self._includes: dict[PurePath, list[tuple[int, str]]] = {}
        for source in sources:
            if source.is_code or source.name.suffix == ".c":
                matches = ((number, INCLUDE.match(line)) for number, line in enumerate(source.lines, 1))
                self._includes[source.name] = [(number, match[1]) for number, match in matches if match]

    def check(self) -> Iterator[Finding]:
        for source in self._sources:
            if source.name not in self._includes:
                continue
            if source.inside is not None:
                yield from self._check_arrows(source)
            if source.name.parts[0] != "unittests":
                yield from self._check_private(source)
        yield from self._check_public()

    def _check_arrows(self, source: Source) -> Iterator[Finding]:
        place = find_place(source.inside)
        if not place:
            if len(source.inside.parts) > 1:
                yield source.path, 1, f"folder '{source.inside.parent}' has no row in LIBRARIES of check_layers.py"
            return
        library, folder = place
        if folder != "." and folder not in FOLDERS.get(library, {}):
            yield source.path, 1, f"folder '{spell(place)}' has no row in FOLDERS of check_layers.py"
        for number, name in self._includes[source.name]:
            if knows_no_compiler(library) and self._reaches_compiler(PurePath(name)):
                yield source.path, number, f"{spell(place)} must not include '{name}': it knows no MLIR"
            is_public = name.startswith("inlay/")
            if not is_public and (source.is_public or PurePath("lib", name) not in self._names):
                continue
            inside = PurePath(name.removeprefix("inlay/"))
            wanted = find_place(inside) or (inside.parts[0], ".")
            # A private header that belongs to another library is a finding of _check_private.
            if not has_arrow(place, wanted, is_public) and (is_public or wanted[0] == library):
                arrow = f"no arrow from {spell(place)} to {spell(wanted)}"
                yield source.path, number, f"{spell(place)} must not include '{name}': {arrow}"

    def _reaches_compiler(self, name: PurePath) -> bool:
        """Returns true if the header is one of MLIR or LLVM, or a public one that includes one of these."""
        if name.parts[0] in COMPILER_HEADERS:
            return True
        included = self._includes.get("include" / name, []) if name.parts[0] == "inlay" else []
        return any(self._reaches_compiler(PurePath(inner)) for _, inner in included if PurePath(inner) != name)

    def _check_private(self, source: Source) -> Iterator[Finding]:
        parent, place = source.name.parent, source.inside and find_place(source.inside)
        is_in_library = source.name.parts[0] == "lib"
        for number, name in self._includes[source.name]:
            if ".." in PurePath(name).parts and source.inside is not None:
                yield source.path, number, f"expected an include path without '..', but got '{name}'"
                continue
            header = PurePath("lib", name)
            if header in self._names and parent / name not in self._names:
                wanted = find_place(PurePath(name))
                if source.is_public:
                    yield source.path, number, f"public headers must not include '{name}': it is private"
                elif not is_in_library or (place and wanted and place[0] != wanted[0]):
                    owner = spell((wanted[0], ".")) if wanted else name
                    yield source.path, number, f"must not include '{name}': it is private to {owner}"
                elif header.parent == parent:
                    yield source.path, number, f"expected '{header.name}' from the same folder, but got '{name}'"
            elif is_in_library and "/" in name and parent / name in self._names:
                spelling = (parent / name).relative_to("lib")
                yield source.path, number, f"expected '{spelling}' from another folder, but got '{name}'"

    def _check_public(self) -> Iterator[Finding]:
        headers = {source.name: source for source in self._sources if source.is_public and source.name.suffix == ".h"}
        inner: dict[PurePath, list[PurePath]] = defaultdict(list)
        used: list[PurePath] = []
        for name, includes in self._includes.items():
            for _, included in includes:
                header = PurePath("include", included)
                if header not in headers:
                    continue
                if name in headers:
                    inner[name].append(header)
                if is_outside(name, headers[header]):
                    used.append(header)
        used += self._find_documented(headers)
        seen = set()
        while used:
            header = used.pop()
            if header not in seen:
                seen.add(header)
                used += inner[header]
        for name in headers.keys() - seen:
            text = "has no reader outside its library: move it to lib, beside its source"
            yield headers[name].path, 1, text

    def _find_documented(self, headers: dict[PurePath, Source]) -> Iterator[PurePath]:
        for source in self._sources:
            if source.name.suffix == ".md" and source.name.parts[0] == "docs":
                names = re.findall(r"inlay/[\w/]+\.h", "\n".join(source.lines))
                yield from (header for name in names if (header := PurePath("include", name)) in headers)


def is_outside(reader: PurePath, header: Source) -> bool:
    """Returns true if the file named `reader` lies outside the header's library and its unit tests."""
    library = find_place(header.inside)
    if not library:
        return True
    top = reader.parts[0]
    if top not in ("lib", "include", "unittests"):
        return True
    inside = PurePath(*reader.parts[2 if top == "include" else 1 :])
    place = find_place(inside)
    if place:
        return place[0] != library[0]
    return inside.parts[0] != library[0].split("/")[0]  # tests of several libraries


def check_layers(sources: list[Source]) -> Iterator[Finding]:
    yield from Layers(sources).check()
