// tf.train.SequenceExample: features of the whole example (the context), and lists of features, one feature for each
// step.
#ifndef TANDEM_DATA_FILES_SEQUENCE_EXAMPLE_H_
#define TANDEM_DATA_FILES_SEQUENCE_EXAMPLE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/data/element.h"
#include "tandem/data/files/example.h"

namespace TANDEM_API tandem {

// Reads features out of SequenceExamples. Immutable, so it may be used by several threads. The rules are those of
// ExampleParser. A list becomes
//   with a fixed length, a tensor [steps, shape...]; every step must have as many values, or get the default, if there
//   is one;
//   with a variable length, a tensor [steps, longest], whose shorter rows end with the padding.
// A list whose key is absent has no steps if it has a variable length or a default; otherwise it is an error.
class SequenceExampleParser {
 public:
  // InvalidArgument, with the key, for features that cannot be read, and keys or names that occur twice.
  static absl::StatusOr<SequenceExampleParser> Create(std::vector<FeatureSpec> context,
                                                      std::vector<FeatureSpec> sequence);

  // The components of the context, then those of the lists.
  const std::vector<ComponentSpec>& spec() const { return spec_; }

  // Reads one SequenceExample.
  absl::Status Parse(absl::string_view record, Element* out) const;

 private:
  SequenceExampleParser() = default;
  std::vector<ExampleParser> context_;  // one parser, or none if no feature of the context is requested
  std::vector<FeatureSpec> sequence_;
  std::vector<ComponentSpec> spec_;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_SEQUENCE_EXAMPLE_H_
