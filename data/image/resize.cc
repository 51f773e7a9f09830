#include "data/image/resize.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/image/image_argument.h"
#include "data/image/resize_axis.h"
#include "data/image/resize_rows.h"

namespace tandem {
namespace {

using image_internal::LerpAxis;
using image_internal::SumAxis;

using image_internal::kMaxSize;

absl::Status Check(const HostTensor& image, int64_t height, int64_t width, SourceLocation location) {
  const image_internal::Call call{"Resize", location};
  TD_RETURN_IF_ERROR(CheckPixels(call, image));
  if (std::min(height, width) < 1 || std::max(height, width) > kMaxSize) {
    return call.Wrong("the size asked for is ", height, " x ", width, "; height and width must be from 1 to ",
                      kMaxSize);
  }
  if (image.shape()[2] > (int64_t{1} << 33) / (height * width)) {
    return call.Wrong("the result would have ", height, " x ", width, " x ", image.shape()[2],
                      " elements; at most 2^33 are allowed");
  }
  return absl::OkStatus();
}

// The result's rows, which may have to be rounded.
class Output {
 public:
  explicit Output(HostTensor* image) : image_(*image), row_elements_(image->shape()[1] * image->shape()[2]) {
    if (image_.dtype() == DType::kUInt8) buffer_ = std::make_unique<float[]>(row_elements_);
  }
  // Where row `y` is to be written; then call Done.
  float* Row(int64_t y) { return buffer_ ? buffer_.get() : image_.data<float>() + y * row_elements_; }
  void Done(int64_t y) {
    if (buffer_) {
      image_internal::RoundRow(buffer_.get(), row_elements_, image_.data<uint8_t>() + y * row_elements_);
    }
  }

 private:
  HostTensor& image_;
  const int64_t row_elements_;
  std::unique_ptr<float[]> buffer_;
};

// The last `count` rows of the input, resized to the output's width by `make`(y, to).
template <typename Make>
class RowCache {
 public:
  RowCache(int64_t count, int64_t row_elements, Make make)
      : row_elements_(row_elements), held_(count, -1), rows_(count * row_elements), make_(std::move(make)) {}
  const float* Row(int64_t y) {
    const size_t slot = y % held_.size();
    float* const row = rows_.data() + slot * row_elements_;
    if (held_[slot] != y) make_(y, row);
    held_[slot] = y;
    return row;
  }

 private:
  const int64_t row_elements_;
  std::vector<int64_t> held_;
  std::vector<float> rows_;
  const Make make_;
};

template <typename T>
void Bilinear(const HostTensor& image, HostTensor* result) {
  const int64_t width = image.shape()[1], channels = image.shape()[2];
  const int64_t out_height = result->shape()[0], row_elements = result->shape()[1] * channels;
  const LerpAxis rows = image_internal::MakeLerpAxis(image.shape()[0], out_height);
  const LerpAxis columns = image_internal::MakeLerpAxis(width, result->shape()[1]);
  const T* const in = image.data<T>();
  RowCache cache(2, row_elements, [&](int64_t y, float* to) {
    image_internal::LerpColumns(in + y * width * channels, width, channels, columns, to);
  });
  Output out(result);
  for (int64_t y = 0; y < out_height; ++y) {
    const float *const lower = cache.Row(rows.lower[y]), *const upper = cache.Row(rows.upper[y]);
    image_internal::LerpRows(lower, upper, rows.fraction[y], row_elements, out.Row(y));
    out.Done(y);
  }
}

// Columns first, as TensorFlow's kernel does.
template <typename T>
void Area(const HostTensor& image, HostTensor* result) {
  const int64_t width = image.shape()[1], channels = image.shape()[2];
  const int64_t out_height = result->shape()[0], out_width = result->shape()[1], row_elements = out_width * channels;
  const SumAxis rows = image_internal::MakeAreaAxis(image.shape()[0], out_height);
  const SumAxis columns = image_internal::MakeAreaAxis(width, out_width);
  const float row_scale = image.shape()[0] / static_cast<float>(out_height);
  const float column_scale = width / static_cast<float>(out_width);
  const float scale = 1.0 / (row_scale * column_scale);
  const T* const in = image.data<T>();
  RowCache cache(rows.span, row_elements, [&](int64_t y, float* to) {
    image_internal::SumColumns(in + y * width * channels, width, channels, columns, to);
  });
  std::vector<float> sum(row_elements);
  Output out(result);
  for (int64_t y = 0; y < out_height; ++y) {
    const float* const weights = &rows.weights[y * rows.span];
    image_internal::ScaleRow(cache.Row(rows.start[y]), weights[0], row_elements, sum.data());
    for (int32_t k = 1; k < rows.count[y]; ++k) {
      image_internal::AddScaledRow(cache.Row(rows.start[y] + k), weights[k], row_elements, sum.data());
    }
    image_internal::ScaleRow(sum.data(), scale, row_elements, out.Row(y));
    out.Done(y);
  }
}

// Rows first, as TensorFlow's kernel does.
template <typename T>
void Antialiased(const HostTensor& image, HostTensor* result) {
  const int64_t width = image.shape()[1], channels = image.shape()[2], row_elements = width * channels;
  const int64_t out_height = result->shape()[0];
  const SumAxis rows = image_internal::MakeTriangleAxis(image.shape()[0], out_height);
  const SumAxis columns = image_internal::MakeTriangleAxis(width, result->shape()[1]);
  const T* const in = image.data<T>();
  std::vector<float> sum(row_elements);
  Output out(result);
  for (int64_t y = 0; y < out_height; ++y) {
    const float* const weights = &rows.weights[y * rows.span];
    const T* const first = in + rows.start[y] * row_elements;
    image_internal::ScaleRow(first, weights[0], row_elements, sum.data());
    for (int32_t k = 1; k < rows.count[y]; ++k) {
      image_internal::AddScaledRow(first + k * row_elements, weights[k], row_elements, sum.data());
    }
    image_internal::SumColumns(sum.data(), width, channels, columns, out.Row(y));
    out.Done(y);
  }
}

template <typename T>
void Nearest(const HostTensor& image, HostTensor* result) {
  const int64_t width = image.shape()[1], channels = image.shape()[2];
  const int64_t out_height = result->shape()[0], out_width = result->shape()[1];
  const std::vector<int32_t> rows = image_internal::MakeNearestAxis(image.shape()[0], out_height);
  const std::vector<int32_t> columns = image_internal::MakeNearestAxis(width, out_width);
  Output out(result);
  for (int64_t y = 0; y < out_height; ++y) {
    const T* const in = image.data<T>() + rows[y] * width * channels;
    float* to = out.Row(y);
    for (int64_t x = 0; x < out_width; ++x) {
      for (int64_t c = 0; c < channels; ++c) *to++ = in[columns[x] * channels + c];
    }
    out.Done(y);
  }
}

template <typename T>
void ResizeAs(const HostTensor& image, const ResizeOptions& options, HostTensor* result) {
  switch (options.method) {
    case ResizeMethod::kBilinear:
      return options.antialias ? Antialiased<T>(image, result) : Bilinear<T>(image, result);
    case ResizeMethod::kNearest:
      return Nearest<T>(image, result);
    case ResizeMethod::kArea:
      return Area<T>(image, result);
  }
}

}  // namespace

absl::StatusOr<HostTensor> Resize(const HostTensor& image, int64_t height, int64_t width, const ResizeOptions& options,
                                  SourceLocation location) {
  TD_RETURN_IF_ERROR(Check(image, height, width, location));
  return CatchResourceErrors("Resize", [&]() -> absl::StatusOr<HostTensor> {
    HostTensor result(options.round_to_uint8 ? DType::kUInt8 : DType::kFloat32, {height, width, image.shape()[2]});
    TD_RETURN_IF_ERROR(result.status());
    if (image.dtype() == DType::kUInt8) {
      ResizeAs<uint8_t>(image, options, &result);
    } else {
      ResizeAs<float>(image, options, &result);
    }
    return result;
  });
}

}  // namespace tandem
