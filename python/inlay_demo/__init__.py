# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program of `make demo`: it runs trained models on real input, beside PyTorch."""
