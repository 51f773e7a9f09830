#include "data/image/resize.h"

#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/component_buffer.h"
#include "data/image/image_argument.h"
#include "data/image/row_resizer.h"

namespace tandem {
namespace {

template <typename T>
void ResizeAs(const HostTensor& image, const ResizeOptions& options, HostTensor* result) {
  const int64_t height = image.shape()[0], width = image.shape()[1], channels = image.shape()[2];
  image_internal::RowResizer<T> resizer(options, height, width, ComponentBuffer::Of(*result));
  resizer.Advance({image.data<T>(), height, width * channels}, height);
}

}  // namespace

absl::StatusOr<HostTensor> Resize(const HostTensor& image, int64_t height, int64_t width, const ResizeOptions& options,
                                  SourceLocation location) {
  const image_internal::Call call{"Resize", location};
  TD_RETURN_IF_ERROR(CheckPixels(call, image));
  const Shape shape = {height, width, image.shape()[2]};
  TD_RETURN_IF_ERROR(CheckResult(call, shape));
  return CatchResourceErrors("Resize", [&]() -> absl::StatusOr<HostTensor> {
    HostTensor result(options.round_to_uint8 ? DType::kUInt8 : DType::kFloat32, shape);
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
