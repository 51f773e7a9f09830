#include "runtime/library_calls/fewer_rows.h"

#include <vector>

#include "runtime/library_calls/library_call.h"

namespace tandem {
namespace {

// Changes the first size, a multiple of `all`, to that of `rows` rows. Returns false if it is no such multiple.
bool ChangeRows(int64_t all, int64_t rows, std::vector<int64_t>& shape) {
  if (shape.empty() || shape[0] % all != 0) return false;
  shape[0] = shape[0] / all * rows;
  return true;
}

}  // namespace

std::optional<format::LibraryCall> CallForRows(const format::LibraryCall& call, int64_t all, int64_t rows) {
  if (InfoOf(call).reduces_batch) return std::nullopt;
  format::LibraryCall result = call;
  const auto change = [&](std::vector<int64_t>& shape) { return ChangeRows(all, rows, shape); };
  bool changed = false;
  if (format::Conv2D* conv = result.operation.As<format::Conv2D>()) {
    changed = conv->direction != format::Direction::kFilterGrad && change(conv->x_shape) && change(conv->y_shape);
  } else if (format::MatMul* product = result.operation.As<format::MatMul>()) {
    changed = !product->transpose_a && change(product->a_shape) && change(product->y_shape);
  } else if (format::BatchMatMul* products = result.operation.As<format::BatchMatMul>()) {
    changed = change(products->a_shape) && change(products->b_shape) && change(products->y_shape);
  }
  if (!changed) return std::nullopt;
  return result;
}

}  // namespace tandem
