// tf.train.SequenceExample: features of the whole (the context), and lists of features, one for each step.
#ifndef TANDEM_DATA_FILES_SEQUENCE_EXAMPLE_H_
#define TANDEM_DATA_FILES_SEQUENCE_EXAMPLE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/element.h"
#include "data/files/example.h"

namespace tandem {

// Reads features out of SequenceExamples. Immutable, so it may be used by several threads. The rules are those of
// ExampleParser; of a list
//   with a fixed length, a tensor [steps, shape...], every step having as many values or, if there is one, the default;
//   with a variable length, a tensor [steps, longest], whose shorter rows end with the padding.
// A list whose key is absent has no steps where it is of variable length or has a default, else it is an error.
class SequenceExampleParser {
 public:
  // InvalidArgument, with the key, for features that cannot be read, and keys or names that occur twice.
  static absl::StatusOr<SequenceExampleParser> Create(std::vector<FeatureSpec> context,
                                                      std::vector<FeatureSpec> sequence);

  // The components of the context, then those of the lists.
  const std::vector<ComponentSpec>& spec() const { return spec_; }

  absl::Status Parse(absl::string_view record, Element* out) const;

 private:
  SequenceExampleParser() = default;
  std::vector<ExampleParser> context_;  // one, or none where no feature of the context is asked for
  std::vector<FeatureSpec> sequence_;
  std::vector<ComponentSpec> spec_;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_SEQUENCE_EXAMPLE_H_
