#!/bin/bash
# All that a machine with a GPU is wanted for, by one command: the tests that compare the device with the host, then
# figures: products in f32 and f16 beside PyTorch on the same GPU where it has CUDA, elementwise ops beside what is as
# near to a copy as they come, rows, ResNet-50 and BERT. VK_DRIVER_FILES names the driver; without it the loader's first.
#
#   tools/inlay-bench/gpu.sh BUILD PYTHON [FOLDER FOR FIGURES]
#
# Goes on after a part that fails, and ends with status 1 then. On a software driver it takes long: INLAY_GPU_REPEATS=1,
# INLAY_GPU_PRODUCTS=matmul-64 and INLAY_GPU_MODELS=resnet18 show that it works.
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

echo "== figures are in $figures"
if ((${#failed[@]})); then
  echo "== failed: ${failed[*]}"
  exit 1
fi
