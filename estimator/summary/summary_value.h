// What a summary shows: messages Summary.Value of tensorflow/core/framework/summary.proto, encoded.
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

std::string ScalarValue(absl::string_view tag, double value);  // stored as a float
std::string HistogramValue(absl::string_view tag, const Histogram& histogram);
// Markdown, for TensorBoard's plugin of texts.
std::string TextValue(absl::string_view tag, absl::string_view text);

// The first `max_outputs` rows of `images`, [n, height, width, 1, 3 or 4], uint8, or float32 or float64 from 0 to 1:
// "TAG/image", or "TAG/image/0" and so on, as TensorFlow 1 names them. InvalidArgument for what PNG cannot have.
absl::StatusOr<std::vector<std::string>> ImageValues(absl::string_view tag, const HostTensor& images, int max_outputs);

// The first `rows` rows of `batch`, copied.
HostTensor FirstRows(const HostTensor& batch, int64_t rows);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_SUMMARY_VALUE_H_
