#include "data/image/normalize.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/status_macros.h"
#include "data/image/image_argument.h"

namespace tandem {
namespace {

using image_internal::Call;

template <typename T>
void NormalizeInto(const HostTensor& image, const NormalizeOptions& options, float* out) {
  const T* in = image.data<T>();
  const int64_t channels = image.shape()[2];
  // A step is 0 if one value is used for all channels, otherwise 1.
  const int64_t mean_step = options.mean.size() > 1, stddev_step = options.stddev.size() > 1;
  for (int64_t i = 0; i < image.num_elements(); i += channels) {
    for (int64_t c = 0; c < channels; ++c) {
      out[i + c] = (in[i + c] * options.scale - options.mean[c * mean_step]) / options.stddev[c * stddev_step];
    }
  }
}

template <typename T>
void StandardizeInto(const HostTensor& image, float* out) {
  const absl::Span<const T> values = image.values<T>();
  const double count = values.size();
  double sum = 0, squares = 0;
  for (const T v : values) sum += v;
  const double mean = sum / count;
  for (const T v : values) squares += (v - mean) * (v - mean);
  const float divisor = std::max(std::sqrt(squares / count), 1 / std::sqrt(count));
  for (size_t i = 0; i < values.size(); ++i) out[i] = (values[i] - static_cast<float>(mean)) / divisor;
}

}  // namespace

absl::StatusOr<HostTensor> Normalize(const HostTensor& image, const NormalizeOptions& options,
                                     SourceLocation location) {
  const Call call{"Normalize", location};
  TD_RETURN_IF_ERROR(CheckPixels(call, image));
  const size_t channels = image.shape()[2];
  for (const auto* values : {&options.mean, &options.stddev}) {
    if (values->size() != 1 && values->size() != channels) {
      return call.Wrong("there are ", values->size(), values == &options.mean ? " means" : " standard deviations",
                        " for an image of ", channels, " channels; give one for each or one for all");
    }
  }
  for (const float s : options.stddev) {
    if (!(s > 0)) return call.Wrong("a standard deviation is ", s, "; all must be > 0");
  }
  TD_ASSIGN_OR_RETURN(HostTensor result, NewImage(call, DType::kFloat32, image.shape()));
  if (image.dtype() == DType::kUInt8) {
    NormalizeInto<uint8_t>(image, options, result.data<float>());
  } else {
    NormalizeInto<float>(image, options, result.data<float>());
  }
  return result;
}

absl::StatusOr<HostTensor> StandardizePerImage(const HostTensor& image, SourceLocation location) {
  const Call call{"StandardizePerImage", location};
  TD_RETURN_IF_ERROR(CheckPixels(call, image));
  TD_ASSIGN_OR_RETURN(HostTensor result, NewImage(call, DType::kFloat32, image.shape()));
  if (image.dtype() == DType::kUInt8) {
    StandardizeInto<uint8_t>(image, result.data<float>());
  } else {
    StandardizeInto<float>(image, result.data<float>());
  }
  return result;
}

}  // namespace tandem
