# How lit runs the tests under test/. In a RUN line:
#   tools by name   inlay-opt, FileCheck, not, split-file, mlir-opt, spirv-val, ...
#   %inlay_libs     folder of our shared libraries       %mlir_libs   folder of MLIR's and LLVM's
#   %inlay_src      root of the source tree              %inlay_build   root of the build tree
#   %mlir_include   folder of MLIR's headers              %ccache        a compiler launcher, or nothing
#   %python         the interpreter that has the package   %llvm_tools    folder of FileCheck and its like
#   %swiftshader    the driver file of SwiftShader, a device with few features
#   %newer-lavapipe a command that runs a program, with its arguments, on the software driver of a newer Mesa, which
#                   multiplies matrices, with a newer validation layer, which knows of that
#   %newer-spirv-val, %newer-spirv-dis   the tools for SPIR-V that came with them, to be run by that command
#   %aarch64        a command that is inlay-run for AArch64, in an emulator: what --param aarch64= says
# and in REQUIRES: vulkan (a driver is there), swiftshader, newer-lavapipe,
# python (the package was built), torch, examples, aarch64.
# INLAY_ROUNDTRIP=1 in the environment makes each inlay-opt also check that what it reads and prints survives.

import os
import re
import shutil
import subprocess

import lit.formats

config.name = "Inlay"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.inlay_obj_root, "test")

tools = [os.path.join(config.inlay_obj_root, "bin"), config.llvm_tools_dir, os.path.dirname(config.python)]
config.environment["PATH"] = os.pathsep.join([*tools, config.environment["PATH"]])

config.substitutions += [
    ("%inlay_libs", os.path.join(config.inlay_obj_root, "lib")),
    ("%inlay_build", config.inlay_obj_root),
    ("%inlay_src", config.inlay_src_root),
    ("%ccache", "" if config.ccache.endswith("NOTFOUND") else config.ccache),
    ("%llvm_tools", config.llvm_tools_dir),
    ("%mlir_include", config.mlir_include_dir),
    ("%mlir_libs", config.mlir_lib_dir),
    ("%python", config.python),
]
if os.environ.get("INLAY_ROUNDTRIP"):
    config.substitutions.append((r"(?<![\w./-])inlay-opt(?![\w./-])", "inlay-opt --verify-roundtrip"))

# Caches (Mesa's compiled shaders, our pipelines) live under these; a run without them compiles everything again.
for name, value in os.environ.items():
    if name in ("HOME", "TMPDIR", "LD_LIBRARY_PATH") or re.match("(XDG|VK|MESA|INLAY)_", name):
        config.environment[name] = value
config.environment.pop("INLAY_ROUNDTRIP", None)
# glibc then overwrites what is freed, so that reading it goes wrong every time.
config.environment["MALLOC_PERTURB_"] = os.environ.get("MALLOC_PERTURB_", "165")

driver = os.environ.get("VK_DRIVER_FILES") or config.vulkan_driver
if driver:
    config.available_features.add("vulkan")
    config.environment["VK_DRIVER_FILES"] = driver
    config.environment.setdefault("INLAY_VULKAN_VALIDATION", "1")
elif os.environ.get("INLAY_REQUIRE_VULKAN"):
    lit_config.fatal("INLAY_REQUIRE_VULKAN is set, but there is no Vulkan driver")

places = [os.path.join(config.inlay_obj_root, "drivers", "swiftshader"), "/usr/lib/chromium"]
files = [os.path.join(place, "vk_swiftshader_icd.json") for place in places]
if found := next(filter(os.path.exists, files), None):
    config.available_features.add("swiftshader")
    config.substitutions.append(("%swiftshader", found))
else:
    lit_config.note("SwiftShader isn't there (make swiftshader), so its tests are left out")

newer = os.path.join(config.inlay_obj_root, "drivers", "newer-lavapipe")
if os.path.exists(os.path.join(newer, "packages")):
    config.available_features.add("newer-lavapipe")
    config.substitutions += [
        ("%newer-lavapipe", f"{newer}/run"),
        ("%newer-spirv-val", f"{newer}/files/usr/bin/spirv-val"),
        ("%newer-spirv-dis", f"{newer}/files/usr/bin/spirv-dis"),
    ]
else:
    lit_config.note("the newer lavapipe isn't there (make newer-lavapipe), so its tests are left out")

if "aarch64" in lit_config.params:
    config.available_features.add("aarch64")
    config.substitutions.append(("%aarch64", lit_config.params["aarch64"]))

if config.inlay_python:
    config.available_features.add("python")
    if not subprocess.run([config.python, "-c", "import torch"], capture_output=True).returncode:
        config.available_features.add("torch")
if shutil.which("spirv-val"):
    config.available_features.add("spirv-tools")
