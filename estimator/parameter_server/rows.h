// Rows of large tensors that travel alone: those of a gradient that are not zero, as most of an embedding's are, and
// those of a variable that have changed since they were last sent. What arrives has the bits of the whole tensor.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_ROWS_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/dtype.h"
#include "base/host_tensor.h"
#include "estimator/parameter_server/frame.h"
#include "estimator/parameter_server/messages.pb.h"

namespace tandem {

// A tensor's elements along its first dimension.
struct RowLayout {
  int64_t rows = 0;  // 0: the tensor travels whole, since it is small or has no rows
  int64_t row_bytes = 0;

  size_t bytes() const { return static_cast<size_t>(rows * row_bytes); }
  // Of so many rows that travel alone.
  size_t packed_bytes(int64_t count) const { return static_cast<size_t>(count * (row_bytes + kNumberBytes)); }
  // Whether they are enough less than the whole.
  bool IsWorth(int64_t count) const { return packed_bytes(count) <= bytes() / 4 * 3; }

  static constexpr int64_t kNumberBytes = sizeof(uint32_t);
};
RowLayout RowLayoutOf(DType dtype, const Shape& shape);

using RowNumbers = std::vector<uint32_t>;  // ascending

// Rows with a bit that is not zero; nothing where the whole tensor is hardly longer.
std::optional<RowNumbers> NonZeroRows(const void* tensor, const RowLayout& layout);

// The numbers of rows, of 32 bits each, and the rows behind them.
std::string PackRows(const void* tensor, const RowLayout& layout, const RowNumbers& numbers);
// The bytes of rows that travel in place of tensor number `tensor` of a message, which gets a head for them. `packed`
// keeps the bytes.
ByteRange SendRows(int64_t tensor, const void* values, const RowLayout& layout, const RowNumbers& numbers,
                   google::protobuf::RepeatedPtrField<parameters::Rows>* heads, std::list<std::string>* packed);
// Writes `count` rows to where they belong in `tensor`, and leaves the others. `reader` has packed_bytes(count).
// InvalidArgument for numbers that do not ascend or are none of a row; nothing has been written then.
absl::Status UnpackRows(FrameReader& reader, const RowLayout& layout, int64_t count, void* tensor, RowNumbers* numbers);

// When each row of a variable has changed. Keeps a copy of the variable.
class RowVersions {
 public:
  // All rows are taken to have changed at `version`.
  RowVersions(const void* tensor, const RowLayout& layout, int64_t version);
  // The rows of `tensor` that differ from those of before have changed at `version`, which is later than others.
  void Update(const void* tensor, int64_t version);
  // Rows that have changed after `version`; nothing where the whole tensor is hardly longer.
  std::optional<RowNumbers> ChangedAfter(int64_t version) const;
  const RowLayout& layout() const { return layout_; }

 private:
  const RowLayout layout_;
  std::vector<char> copy_;
  std::vector<int64_t> changed_;  // by row
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_ROWS_H_
