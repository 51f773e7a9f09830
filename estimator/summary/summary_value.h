// Encodes values of summaries: messages Summary.Value of tensorflow/core/framework/summary.proto.
#ifndef TANDEM_ESTIMATOR_SUMMARY_SUMMARY_VALUE_H_
#define TANDEM_ESTIMATOR_SUMMARY_SUMMARY_VALUE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "estimator/summary/histogram.h"

namespace tandem {

std::string ScalarValue(absl::string_view tag, double value);  // `value` is stored as a float
std::string HistogramValue(absl::string_view tag, const Histogram& histogram);
// Returns a text in Markdown, for TensorBoard's text plugin.
std::string TextValue(absl::string_view tag, absl::string_view text);

// Returns the first `max_outputs` rows of `images`, which are [n, height, width, 1, 3 or 4], uint8, or float32 or
// float64 from 0 to 1. Tags are "TAG/image", or "TAG/image/0" and so on, as in TensorFlow 1. InvalidArgument for images
// that PNG cannot have.
absl::StatusOr<std::vector<std::string>> ImageValues(absl::string_view tag, const HostTensor& images, int max_outputs);

// Returns a copy of the first `rows` rows of `batch`.
HostTensor FirstRows(const HostTensor& batch, int64_t rows);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_SUMMARY_VALUE_H_
