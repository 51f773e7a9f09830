#include "estimator/warm_start/copy_overlap.h"

#include <algorithm>
#include <cstring>

namespace tandem {
namespace {

// Returns, for each dimension, the number of bytes between elements whose indices in it differ by one.
std::vector<int64_t> Strides(const HostTensor& tensor) {
  std::vector<int64_t> strides(tensor.rank() + 1, SizeOf(tensor.dtype()));
  for (int d = tensor.rank() - 1; d >= 0; --d) strides[d] = strides[d + 1] * tensor.shape()[d];
  strides.erase(strides.begin());
  return strides;
}

struct Copier {
  const Shape &from_shape, &to_shape;
  const std::vector<int64_t> from_strides, to_strides;
  const RowsOfAxis* rows;   // null: no dimension is matched by rows
  int contiguous;           // the first dimension from which on both shapes are equal: these are copied at once
  int64_t contiguous_size;  // bytes of the dimensions from `contiguous` on

  void Copy(int d, const char* from, char* to) const {
    if (d == contiguous) {
      std::memcpy(to, from, contiguous_size);
    } else if (rows != nullptr && d == rows->axis) {
      for (const MatchedRow& row : rows->rows) {
        Copy(d + 1, from + row.from * from_strides[d], to + row.to * to_strides[d]);
      }
    } else {
      for (int64_t i = 0; i < std::min(from_shape[d], to_shape[d]); ++i) {
        Copy(d + 1, from + i * from_strides[d], to + i * to_strides[d]);
      }
    }
  }
};

}  // namespace

void CopyOverlap(const HostTensor& from, HostTensor* to, const std::optional<RowsOfAxis>& rows) {
  if (from.num_elements() == 0 || to->num_elements() == 0) return;
  Copier copier{from.shape(), to->shape(),         Strides(from), Strides(*to), rows.has_value() ? &*rows : nullptr,
                from.rank(),  SizeOf(from.dtype())};
  while (copier.contiguous > 0 && from.shape()[copier.contiguous - 1] == to->shape()[copier.contiguous - 1] &&
         (!rows.has_value() || rows->axis != copier.contiguous - 1)) {
    copier.contiguous_size *= from.shape()[--copier.contiguous];
  }
  copier.Copy(0, static_cast<const char*>(from.raw()), static_cast<char*>(to->raw()));
}

}  // namespace tandem
