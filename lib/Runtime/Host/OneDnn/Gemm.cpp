// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products by oneDNN.

#include "Gemm.h"
#include "Primitive.h"

namespace inlay::rt::host::onednn {

namespace {
class OneDnnGemm : public Gemm {
public:
  std::string packFormat() const override { return toBytes(weights_); }
  size_t packedBytes() const override { return dnnl_memory_desc_get_size(&weights_); }

  Status pack(const float *b, void *packed) const override {
    auto reorder = Primitive::makeReorder(plainWeights_, weights_);
    if (!reorder.isOk())
      return reorder.status();
    const Argument arguments[] = {{DNNL_ARG_FROM, &plainWeights_, b}, {DNNL_ARG_TO, &weights_, packed}};
    return (*reorder)->run(arguments, 2);
  }

  Status run(const float *a, const void *b, float *c) const override {
    const Argument arguments[] = {
        {DNNL_ARG_SRC, &source_, a}, {DNNL_ARG_WEIGHTS, &weights_, b}, {DNNL_ARG_DST, &destination_, c}};
    return primitive_->run(arguments, 3);
  }

  dnnl_memory_desc_t source_{}, plainWeights_{}, weights_{}, destination_{};
  std::unique_ptr<Primitive> primitive_;
};
} // namespace

/// Returns true if rows or columns are adjacent and nothing overlaps. The stride of a dim of size 1 doesn't matter.
static bool isMatrix(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  bool isRowMajor = (columns == 1 || column == 1) && (rows == 1 || row >= columns);
  bool isColumnMajor = (rows == 1 || row == 1) && (columns == 1 || column >= rows);
  return isRowMajor || isColumnMajor;
}

/// Describes a matrix. Strides of dims of size 1 become those of a dense matrix, because oneDNN compares them.
static dnnl_status_t describe(dnnl_memory_desc_t &desc, int64_t rows, int64_t columns, int64_t row, int64_t column) {
  if (rows == 1 && columns == 1)
    row = column = 1;
  else if (columns == 1)
    column = row == 1 ? rows : 1;
  else if (rows == 1)
    row = column == 1 ? columns : 1;
  const dnnl_dims_t dims = {rows, columns};
  const dnnl_dims_t strides = {row, column};
  return dnnl_memory_desc_init_by_strides(&desc, 2, dims, dnnl_f32, strides);
}

StatusOr<std::shared_ptr<Gemm>> makeGemm(const GemmShape &shape) {
  constexpr int64_t kMinMultiplications = 1024; // fewer take less time than a call
  if (!isMatrix(shape.m, shape.k, shape.aRow, shape.aColumn) ||
      !isMatrix(shape.k, shape.n, shape.bRow, shape.bColumn) || (shape.m > 1 && shape.cRow < shape.n) ||
      (!shape.packsB && (shape.m == 1 || shape.m * shape.n * shape.k < kMinMultiplications)))
    return std::shared_ptr<Gemm>();
  auto gemm = std::make_shared<OneDnnGemm>();
  const dnnl_dims_t weightDims = {shape.k, shape.n};
  dnnl_memory_desc_t any{};
  if (describe(gemm->source_, shape.m, shape.k, shape.aRow, shape.aColumn) != dnnl_success ||
      describe(gemm->plainWeights_, shape.k, shape.n, shape.bRow, shape.bColumn) != dnnl_success ||
      describe(gemm->destination_, shape.m, shape.n, shape.cRow, 1) != dnnl_success ||
      dnnl_memory_desc_init_by_tag(&any, 2, weightDims, dnnl_f32, dnnl_format_tag_any) != dnnl_success)
    return std::shared_ptr<Gemm>();
  dnnl_matmul_desc_t op{};
  if (dnnl_matmul_desc_init(&op, &gemm->source_, shape.packsB ? &any : &gemm->plainWeights_, nullptr,
                            &gemm->destination_) != dnnl_success)
    return std::shared_ptr<Gemm>();
  auto primitive = Primitive::make(&op, makeAttributes(shape.accumulates));
  if (!primitive.isOk())
    return primitive.status();
  if (!*primitive)
    return std::shared_ptr<Gemm>();
  gemm->primitive_ = std::move(*primitive);
  gemm->weights_ = *gemm->primitive_->desc(dnnl_query_weights_md);
  return std::shared_ptr<Gemm>(std::move(gemm));
}

} // namespace inlay::rt::host::onednn
