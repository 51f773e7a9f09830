// tf.train.Example, the usual content of a record: named features, each a list of floats, int64s or byte strings.
#ifndef TANDEM_DATA_FILES_EXAMPLE_H_
#define TANDEM_DATA_FILES_EXAMPLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tandem/base/api.h"
#include "tandem/base/dtype.h"
#include "tandem/base/host_tensor.h"
#include "tandem/data/element.h"

namespace TANDEM_API tandem {

// Makes the bytes of an Example. Setting a feature again replaces its values.
//
//   writer->Write(ExampleBuilder().Bytes("image", pixels).Int64("label", 7).Serialize());
class ExampleBuilder {
 public:
  // Set a feature: a list of values, or one value.
  ExampleBuilder& Int64(absl::string_view key, absl::Span<const int64_t> values);
  ExampleBuilder& Int64(absl::string_view key, int64_t value) { return Int64(key, absl::MakeConstSpan(&value, 1)); }
  ExampleBuilder& Float(absl::string_view key, absl::Span<const float> values);
  ExampleBuilder& Float(absl::string_view key, float value) { return Float(key, absl::MakeConstSpan(&value, 1)); }
  ExampleBuilder& Bytes(absl::string_view key, absl::Span<const absl::string_view> values);
  ExampleBuilder& Bytes(absl::string_view key, absl::string_view value) {
    return Bytes(key, absl::MakeConstSpan(&value, 1));
  }

  // Features are written in the order of their keys, so equal features give equal bytes. The bytes are those of
  // protobuf's deterministic serialisation.
  std::string Serialize() const;

 private:
  std::map<std::string, std::string> features_;  // for each key, the serialised Feature
};

// Says how to read one feature. The types are those of an Example: kFloat32, kInt64 and kString.
struct FeatureSpec {
  std::string key;
  DType dtype = DType::kInvalid;
  // Shape of a feature of fixed length, which must have as many values. Ignored for a variable length.
  Shape shape;
  bool variable_length = false;
  // For a fixed length: the value of an absent feature, of the feature's type. It has as many elements as `shape`, or
  // one element, which stands for all of them; with an empty tensor the feature must be present. For a variable length:
  // the one element with which a batch's shorter rows are padded; with an empty tensor they are padded with 0 or "".
  HostTensor default_value;
  // Name of the component; if it is empty, the key is the name.
  std::string name;

  // Like tf.io.FixedLenFeature and tf.io.VarLenFeature.
  static FeatureSpec FixedLen(std::string key, DType dtype, Shape shape = {}, HostTensor default_value = {}) {
    return {std::move(key), dtype, std::move(shape), false, std::move(default_value), ""};
  }
  static FeatureSpec VarLen(std::string key, DType dtype, HostTensor padding = {}) {
    return {std::move(key), dtype, {}, true, std::move(padding), ""};
  }
};

// A feature of an Example: its key, and the type and number of its values. The type is kInvalid and the number 0 if the
// Feature message has no list of values.
struct FeatureSummary {
  std::string key;
  DType dtype = DType::kInvalid;
  int64_t count = 0;
};

// Returns the features in the order of the record. DataLoss when it is no Example.
absl::StatusOr<std::vector<FeatureSummary>> ListFeatures(absl::string_view record);

// Reads features out of Examples. Immutable, so it may be used by several threads.
//
// A feature is absent if its key or its list is absent. If a key occurs several times, the last entry counts. Floats
// and int64s may be packed or not. Keys that are not asked for are skipped. A feature of variable length becomes, for
// one Example, a tensor of rank 1 with as many values as it has (none if it is absent); for a batch of Examples a
// tensor [examples, longest], whose shorter rows end with the padding.
class ExampleParser {
 public:
  // InvalidArgument, with the key, for a type that an Example cannot have, a size below 0, a default of another type or
  // number of elements, and keys or names that occur twice.
  static absl::StatusOr<ExampleParser> Create(std::vector<FeatureSpec> features);

  // The components for a single Example.
  const std::vector<ComponentSpec>& spec() const { return spec_; }
  // True if a feature has a variable length.
  bool has_variable_length() const { return has_variable_length_; }

  // Reads the features of one Example.
  absl::Status ParseOne(absl::string_view record, Element* out) const;
  // Reads the features of a batch of Examples: every component has one more dimension in front. After an error,
  // *bad_row is the index of the record that caused it.
  absl::Status ParseBatch(absl::Span<const absl::string_view> records, Element* out, int64_t* bad_row) const;

 private:
  ExampleParser() = default;
  // Finds the serialised Feature of each key, in the order of features_; null data where absent.
  absl::Status FindFeatures(absl::string_view record, std::vector<absl::string_view>* found) const;

  std::vector<FeatureSpec> features_;
  std::vector<ComponentSpec> spec_;
  std::map<absl::string_view, size_t> index_;  // maps a key to its index in features_; the keys point into key_storage_
  std::shared_ptr<const std::vector<std::string>> key_storage_;
  bool has_variable_length_ = false;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_EXAMPLE_H_
