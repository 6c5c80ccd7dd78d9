#!/bin/bash
# Runs everything that needs a GPU: the tests that compare the device with the host, then the measurements. These are
# products in f32 and f16, elementwise ops with a negation for comparison, since it is close to a copy, row ops, ResNet-50
# and BERT, compared with PyTorch on the same GPU if it has CUDA. VK_DRIVER_FILES names the driver. Without it the loader
# selects one.
#
#   tools/inlay-bench/gpu.sh BUILD PYTHON [FOLDER FOR FIGURES]
#
# If a part fails, the script continues and ends with status 1. It takes long on a software driver. INLAY_GPU_REPEATS=1,
# INLAY_GPU_PRODUCTS=matmul-64 and INLAY_GPU_MODELS=resnet18 make a short test.
set -u -o pipefail
build=$(realpath "$1") python=$2
figures=${3:-$build/bench/gpu}
repeats=${INLAY_GPU_REPEATS:-5} models=${INLAY_GPU_MODELS:-resnet50,bert}
products=${INLAY_GPU_PRODUCTS:-matmul-512,matmul-1024,matmul-2048}
lit=${LLVM_LIT:-/usr/lib/llvm-22/bin/lit}
mkdir -p "$figures"
failed=()

part() { # NAME COMMAND...
  local name=$1
  shift
  echo "== $name"
  "$@" || failed+=("$name")
}

bench() { # NAME ARGUMENTS...
  local name=$1
  shift
  part "$name" "$build/bin/inlay-bench" "$@" --json="$figures/$name.json"
}

contest=(--routes=vulkan --against=torch-cuda "--python=$python" "--repeats=$repeats")
part devices "$build/bin/inlay-run" --list-devices
part conformance env INLAY_REQUIRE_VULKAN=1 "$python" "$lit" -sv --no-progress-bar "$build/test/Execution"
bench launches launches --repeats="$repeats"
bench products kernels --kernels="$products" --dtypes=f32,f16 "${contest[@]}"
bench elementwise kernels --kernels=negate-16m,add-4m,elementwise-4m "${contest[@]}"
bench rows kernels --kernels=softmax-512x1000,layer-norm-128x768 "${contest[@]}"
bench models models --models="$models" "${contest[@]}"

echo "== the figures are in $figures"
if ((${#failed[@]})); then
  echo "== failed: ${failed[*]}"
  exit 1
fi
