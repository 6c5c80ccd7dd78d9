# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Architectures of model libraries in tiny sizes, with random weights and inputs."""
