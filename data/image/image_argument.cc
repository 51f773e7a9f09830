#include "data/image/image_argument.h"

#include <algorithm>
#include <utility>

#include "base/resource_errors.h"
#include "base/status_macros.h"

namespace tandem::image_internal {

absl::Status CheckImage(const Call& call, const HostTensor& image) {
  if (image.empty()) {
    TD_RETURN_IF_ERROR(image.status());
    return call.Wrong("the image is an empty tensor");
  }
  if (image.dtype() == DType::kString) {
    return call.Wrong("the image is of type string; it must be of numbers: decode its file first (DecodeImage)");
  }
  const Shape& shape = image.shape();
  if (shape.size() == 3 && std::min({shape[0], shape[1], shape[2]}) >= 1 && std::max(shape[0], shape[1]) <= kMaxSize) {
    return absl::OkStatus();
  }
  return call.Wrong("the image's shape is ", ShapeString(shape),
                    "; it must be [height, width, channels] with sizes from 1 to ", kMaxSize);
}

absl::Status CheckPixels(const Call& call, const HostTensor& image) {
  TD_RETURN_IF_ERROR(CheckImage(call, image));
  if (image.dtype() == DType::kUInt8 || image.dtype() == DType::kFloat32) return absl::OkStatus();
  return call.Wrong("the image is of type ", Name(image.dtype()), "; it must be uint8 or float32");
}

absl::Status CheckRgb(const Call& call, const HostTensor& image) {
  TD_RETURN_IF_ERROR(CheckPixels(call, image));
  if (image.shape()[2] == 3) return absl::OkStatus();
  return call.Wrong("the image's shape is ", ShapeString(image.shape()),
                    "; it must have 3 channels: red, green and blue (decode with .channels = 3)");
}

absl::Status CheckResult(const Call& call, const Shape& shape) {
  const int64_t height = shape[0], width = shape[1], channels = shape[2];
  if (std::min(height, width) < 1 || std::max(height, width) > kMaxSize) {
    return call.Wrong("the size asked for is ", height, " x ", width, "; height and width must be from 1 to ",
                      kMaxSize);
  }
  if (channels > (int64_t{1} << 33) / (height * width)) {
    return call.Wrong("the result would have ", height, " x ", width, " x ", channels,
                      " elements; at most 2^33 are allowed");
  }
  return absl::OkStatus();
}

absl::StatusOr<HostTensor> NewImage(const Call& call, DType dtype, Shape shape) {
  return CatchResourceErrors(call.function, [&]() -> absl::StatusOr<HostTensor> {
    HostTensor image(dtype, std::move(shape), call.location);
    TD_RETURN_IF_ERROR(image.status());
    return image;
  });
}

}  // namespace tandem::image_internal
