// Sends only some rows of large tensors: those of a gradient that are not zero (most rows of an embedding's gradient
// are), and those of a variable that have changed since they were last sent. The receiver gets the same bits as from
// the whole tensor.
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

// A tensor as rows: its elements along the first dimension.
struct RowLayout {
  int64_t rows = 0;  // 0: the tensor is sent whole, since it is small or has no rows
  int64_t row_bytes = 0;

  size_t bytes() const { return static_cast<size_t>(rows * row_bytes); }
  // Returns the number of bytes that PackRows makes of so many rows.
  size_t packed_bytes(int64_t count) const { return static_cast<size_t>(count * (row_bytes + kNumberBytes)); }
  // True if sending so many rows takes at most 3/4 of the bytes of the whole tensor.
  bool IsWorth(int64_t count) const { return packed_bytes(count) <= bytes() / 4 * 3; }

  static constexpr int64_t kNumberBytes = sizeof(uint32_t);
};
RowLayout RowLayoutOf(DType dtype, const Shape& shape);

using RowNumbers = std::vector<uint32_t>;  // in ascending order

// Returns the rows with a bit that is not zero; nothing if IsWorth says that the whole tensor is to be sent.
std::optional<RowNumbers> NonZeroRows(const void* tensor, const RowLayout& layout);

// Returns the numbers of the rows, 32 bits each, followed by the rows.
std::string PackRows(const void* tensor, const RowLayout& layout, const RowNumbers& numbers);
// Packs the rows `numbers` of `values`, to be sent in place of all of tensor number `tensor` of a message, and adds
// their description to `heads`. Returns the bytes, which are owned by `packed`.
ByteRange SendRows(int64_t tensor, const void* values, const RowLayout& layout, const RowNumbers& numbers,
                   google::protobuf::RepeatedPtrField<parameters::Rows>* heads, std::list<std::string>* packed);
// Reads `count` rows and writes them to `tensor`, whose other rows do not change. `reader` must have
// packed_bytes(count) bytes left. InvalidArgument, with nothing written, for row numbers that do not ascend or do not
// exist.
absl::Status UnpackRows(FrameReader& reader, const RowLayout& layout, int64_t count, void* tensor, RowNumbers* numbers);

// Records at which version (a step of the server) each row of a variable has changed last. Keeps a copy of the
// variable, to compare with.
class RowVersions {
 public:
  // All rows count as changed at `version`.
  RowVersions(const void* tensor, const RowLayout& layout, int64_t version);
  // Compares `tensor` with the copy and records that the rows that differ have changed at `version`, which must be
  // later than before.
  void Update(const void* tensor, int64_t version);
  // Returns the rows that have changed after `version`; nothing if IsWorth says that the whole tensor is to be sent.
  std::optional<RowNumbers> ChangedAfter(int64_t version) const;
  const RowLayout& layout() const { return layout_; }

 private:
  const RowLayout layout_;
  std::vector<char> copy_;
  std::vector<int64_t> changed_;  // for each row, the version at which it changed last
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_ROWS_H_
