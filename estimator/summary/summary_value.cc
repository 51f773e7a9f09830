#include "estimator/summary/summary_value.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "data/files/wire_fields.h"
#include "data/image/png.h"

namespace tandem {
namespace {

// Field numbers of the messages.
constexpr uint32_t kTag = 1, kSimpleValue = 2, kImage = 4, kHistogram = 5, kTensor = 8, kMetadata = 9;
constexpr uint32_t kHeight = 1, kWidth = 2, kColorspace = 3, kEncodedImage = 4;  // field numbers of Image
constexpr uint32_t kMin = 1, kMax = 2, kNum = 3, kSum = 4, kSumSquares = 5, kLimits = 6,
                   kBuckets = 7;                                      // field numbers of HistogramProto
constexpr uint32_t kPluginData = 1, kDataClass = 4;                   // field numbers of SummaryMetadata
constexpr uint32_t kPluginName = 1;                                   // field numbers of PluginData
constexpr uint32_t kDType = 1, kTensorShape = 2, kTensorStrings = 8;  // field numbers of TensorProto
constexpr uint64_t kDataClassTensor = 2, kStringType = 7;

std::string Tagged(absl::string_view tag) {
  std::string value;
  wire::AppendBytes(kTag, tag, &value);
  return value;
}

template <typename T>
uint8_t ToByte(T value) {
  // The comparison is false for NaN, so NaN becomes 0.
  return static_cast<uint8_t>(std::lround(255 * std::min(T{1}, value > 0 ? value : T{0})));
}

// Returns row `row` as [height, width, channels], uint8.
HostTensor BytesOfRow(const HostTensor& images, int64_t row) {
  HostTensor image(DType::kUInt8, Shape(images.shape().begin() + 1, images.shape().end()));
  const int64_t size = image.num_elements();
  uint8_t* const out = image.data<uint8_t>();
  if (images.dtype() == DType::kUInt8) {
    std::copy_n(images.data<uint8_t>() + row * size, size, out);
  } else if (images.dtype() == DType::kFloat64) {
    std::transform(images.data<double>() + row * size, images.data<double>() + (row + 1) * size, out, ToByte<double>);
  } else {
    std::transform(images.data<float>() + row * size, images.data<float>() + (row + 1) * size, out, ToByte<float>);
  }
  return image;
}

}  // namespace

std::string ScalarValue(absl::string_view tag, double value) {
  std::string out = Tagged(tag);
  wire::AppendFloat(kSimpleValue, static_cast<float>(value), &out);
  return out;
}

std::string HistogramValue(absl::string_view tag, const Histogram& histogram) {
  std::string message;
  wire::AppendDouble(kMin, histogram.min, &message);
  wire::AppendDouble(kMax, histogram.max, &message);
  wire::AppendDouble(kNum, histogram.count, &message);
  wire::AppendDouble(kSum, histogram.sum, &message);
  wire::AppendDouble(kSumSquares, histogram.sum_squares, &message);
  wire::AppendPacked(kLimits, histogram.limits, &message);
  wire::AppendPacked(kBuckets, histogram.counts, &message);
  std::string out = Tagged(tag);
  wire::AppendBytes(kHistogram, message, &out);
  return out;
}

std::string TextValue(absl::string_view tag, absl::string_view text) {
  std::string plugin, metadata, tensor;
  wire::AppendBytes(kPluginName, "text", &plugin);
  wire::AppendBytes(kPluginData, plugin, &metadata);
  wire::AppendNumber(kDataClass, kDataClassTensor, &metadata);
  wire::AppendNumber(kDType, kStringType, &tensor);
  wire::AppendBytes(kTensorShape, "", &tensor);
  wire::AppendBytes(kTensorStrings, text, &tensor);
  std::string out = Tagged(tag);
  wire::AppendBytes(kTensor, tensor, &out);
  wire::AppendBytes(kMetadata, metadata, &out);
  return out;
}

absl::StatusOr<std::vector<std::string>> ImageValues(absl::string_view tag, const HostTensor& images, int max_outputs) {
  std::vector<std::string> values;
  const int64_t count = std::min<int64_t>(max_outputs, images.shape()[0]);
  for (int64_t row = 0; row < count; ++row) {
    const HostTensor image = BytesOfRow(images, row);
    std::string message;
    wire::AppendNumber(kHeight, static_cast<uint64_t>(image.shape()[0]), &message);
    wire::AppendNumber(kWidth, static_cast<uint64_t>(image.shape()[1]), &message);
    wire::AppendNumber(kColorspace, static_cast<uint64_t>(image.shape()[2]), &message);
    TD_ASSIGN_OR_RETURN(const std::string png, EncodePng(image));
    wire::AppendBytes(kEncodedImage, png, &message);
    std::string out = Tagged(max_outputs == 1 ? absl::StrCat(tag, "/image") : absl::StrCat(tag, "/image/", row));
    wire::AppendBytes(kImage, message, &out);
    values.push_back(std::move(out));
  }
  return values;
}

HostTensor FirstRows(const HostTensor& batch, int64_t rows) {
  Shape shape = batch.shape();
  shape[0] = std::min(rows, shape[0]);
  HostTensor result(batch.dtype(), shape);
  if (result.byte_size() > 0) std::memcpy(result.raw(), batch.raw(), result.byte_size());
  return result;
}

}  // namespace tandem
