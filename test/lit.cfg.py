# How lit runs the tests under test/. A RUN line may name any tool of the build and of LLVM (inlay-opt, FileCheck, not,
# split-file, mlir-opt, spirv-val, ...) and use these substitutions:
#   %inlay_src, %inlay_build   roots of the source tree and of the build tree
#   %inlay_libs, %mlir_libs    folders of Inlay's shared libraries and of those of MLIR and LLVM
#   %mlir_include              folder of MLIR's headers
#   %llvm_tools                folder of LLVM's tools
#   %python                    the Python interpreter that has the package
#   %ccache                    a compiler launcher, or nothing
#   %swiftshader               driver file of SwiftShader, a device with few features
#   %newer-lavapipe            command that runs a program on the software driver of a newer Mesa, which supports
#                              cooperative matrices, with a validation layer that supports them too
#   %newer-spirv-val, %newer-spirv-dis   SPIR-V tools that support cooperative matrices; %newer-lavapipe runs them
#   %newer-radv                command that runs a program with a newer Mesa's driver for AMD GPUs
#   %newer-radv-manifest       driver file of the newer driver for AMD GPUs
#   %aarch64                   command that runs inlay-run for AArch64 in an emulator, from --param aarch64=
# A test may require these features: vulkan (there is a driver), swiftshader, newer-lavapipe, radv (Mesa's driver for
# AMD, which compiles without a GPU), newer-radv, python (the package is built), torch, spirv-tools, aarch64.
# INLAY_ROUNDTRIP=1 makes each inlay-opt also check that the modules that it reads and prints survive a round trip.

import glob
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

# Caches (Mesa's compiled shaders, our pipelines) are in folders that these variables name. Without them every run would
# compile everything again.
for name, value in os.environ.items():
    if name in ("HOME", "TMPDIR", "LD_LIBRARY_PATH") or re.match("(XDG|VK|MESA|INLAY)_", name):
        config.environment[name] = value
config.environment.pop("INLAY_ROUNDTRIP", None)
# Makes glibc overwrite freed memory, so that a read of freed memory fails every time.
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
    lit_config.note("SwiftShader is missing (make swiftshader), so its tests are skipped")

newer = os.path.join(config.inlay_obj_root, "drivers", "newer-lavapipe")
if os.path.exists(os.path.join(newer, "packages")):
    config.available_features.add("newer-lavapipe")
    config.substitutions += [
        ("%newer-lavapipe", f"{newer}/run"),
        ("%newer-spirv-val", f"{newer}/files/usr/bin/spirv-val"),
        ("%newer-spirv-dis", f"{newer}/files/usr/bin/spirv-dis"),
    ]
else:
    lit_config.note("the newer lavapipe is missing (make newer-lavapipe), so its tests are skipped")

if glob.glob("/usr/share/vulkan/icd.d/radeon_icd*.json"):
    config.available_features.add("radv")

newer = os.path.join(config.inlay_obj_root, "drivers", "newer-radv")
if os.path.exists(os.path.join(newer, "packages")):
    config.available_features.add("newer-radv")
    config.substitutions += [
        ("%newer-radv-manifest", f"{newer}/radeon_icd.json"),
        ("%newer-radv", f"{newer}/run"),
    ]
else:
    lit_config.note("the newer RADV is missing (make newer-radv), so its tests are skipped")

if "aarch64" in lit_config.params:
    config.available_features.add("aarch64")
    config.substitutions.append(("%aarch64", lit_config.params["aarch64"]))

if config.inlay_python:
    config.available_features.add("python")
    if not subprocess.run([config.python, "-c", "import torch"], capture_output=True).returncode:
        config.available_features.add("torch")
if shutil.which("spirv-val"):
    config.available_features.add("spirv-tools")
