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

absl::StatusOr<HostTensor> NewImage(const Call& call, DType dtype, Shape shape) {
  return CatchResourceErrors(call.function, [&]() -> absl::StatusOr<HostTensor> {
    HostTensor image(dtype, std::move(shape), call.location);
    TD_RETURN_IF_ERROR(image.status());
    return image;
  });
}

}  // namespace tandem::image_internal
