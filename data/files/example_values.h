// Reads the values of an Example's features, for ExampleParser and SequenceExampleParser.
#ifndef TANDEM_DATA_FILES_EXAMPLE_VALUES_H_
#define TANDEM_DATA_FILES_EXAMPLE_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/host_tensor.h"
#include "data/files/example.h"
#include "data/files/wire.h"

namespace tandem::example_internal {

// Field numbers, from tensorflow/core/example/feature.proto.
inline constexpr uint32_t kFeatures = 1;                       // fields of the message Example
inline constexpr uint32_t kEntry = 1;                          // fields of the message Features
inline constexpr uint32_t kKey = 1, kValue = 2;                // fields of an entry of its map
inline constexpr uint32_t kBytes = 1, kFloat = 2, kInt64 = 3;  // fields of the message Feature
inline constexpr uint32_t kListValue = 1;                      // field of BytesList, FloatList and Int64List

absl::Status Malformed(absl::string_view what, int64_t position);

// Calls `visit(bytes)` for each field `field` of the message and skips other fields. Returns false, with the offset of
// the field in *position, if the message is malformed or `visit` returns false.
template <typename Visit>
bool ForEachBytes(absl::string_view message, uint32_t field, int64_t* position, const Visit& visit) {
  wire::Reader reader(message);
  while (!reader.done()) {
    uint32_t number = 0;
    wire::Type type = wire::Type::kVarint;
    absl::string_view bytes;
    *position = reader.position();
    if (!reader.ReadTag(&number, &type)) return false;
    if (number == field && type == wire::Type::kBytes) {
      if (!reader.ReadBytes(&bytes) || !visit(bytes)) return false;
    } else if (!reader.Skip(type)) {
      return false;
    }
  }
  return true;
}

// The lists of a Feature whose values count. A Feature is a oneof: if the message contains lists of several kinds, only
// the lists after the last change of kind count. There is nearly always one list.
struct Lists {
  uint32_t kind = 0;  // field number of the lists' kind; 0 if there is no list
  absl::string_view first;
  std::vector<absl::string_view> more;
};

absl::Status FindLists(absl::string_view feature, Lists* lists);

// Stores the type of the lists' values and their number.
absl::Status CountValues(const Lists& lists, DType* dtype, int64_t* count);

// Returns InvalidArgument: "feature 'key' what".
absl::Status KeyError(const FeatureSpec& spec, absl::string_view what);
// Returns DataLoss with the same text as KeyError, for a record whose feature is wrong.
absl::Status RecordError(const FeatureSpec& spec, absl::string_view what);
// Returns InvalidArgument if a feature with this specification cannot be read.
absl::Status CheckFeature(const FeatureSpec& feature);

// Reads a feature of fixed length from `found.size()` records (`found` has its serialised Features) as a tensor of
// shape `shape`. After an error *bad_row is the number of the record.
absl::StatusOr<HostTensor> ReadFixed(const FeatureSpec& spec, absl::Span<const absl::string_view> found, Shape shape,
                                     int64_t* bad_row);
// Reads a feature of variable length: padded to the longest if `batched`, otherwise from the only record, without
// padding.
absl::StatusOr<HostTensor> ReadVariable(const FeatureSpec& spec, absl::Span<const absl::string_view> found,
                                        bool batched, int64_t* bad_row);

// Returns `shape` with a dimension of size `rows` in front.
Shape WithRows(int64_t rows, const Shape& shape);

}  // namespace tandem::example_internal

#endif  // TANDEM_DATA_FILES_EXAMPLE_VALUES_H_
