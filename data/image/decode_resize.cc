#include "data/image/decode_resize.h"

#include <utility>

#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/image/decode_image.h"
#include "data/image/jpeg.h"

namespace tandem {
namespace {

constexpr int kRgb = 3;

template <typename T>
void Repeat(const T* __restrict grey, int64_t pixels, T* __restrict rgb) {
  for (int64_t i = 0; i < pixels; ++i) {
    for (int c = 0; c < kRgb; ++c) rgb[kRgb * i + c] = grey[i];
  }
}

// [height, width, 1] as [height, width, 3].
absl::StatusOr<HostTensor> InThreeChannels(const HostTensor& grey) {
  return CatchResourceErrors("DecodeAndResize", [&]() -> absl::StatusOr<HostTensor> {
    HostTensor rgb(grey.dtype(), {grey.shape()[0], grey.shape()[1], kRgb});
    TD_RETURN_IF_ERROR(rgb.status());
    if (grey.dtype() == DType::kUInt8) {
      Repeat(grey.data<uint8_t>(), grey.num_elements(), rgb.data<uint8_t>());
    } else {
      Repeat(grey.data<float>(), grey.num_elements(), rgb.data<float>());
    }
    return rgb;
  });
}

}  // namespace

absl::StatusOr<HostTensor> DecodeAndResize(absl::string_view bytes, int64_t height, int64_t width,
                                           const DecodeImageOptions& decode, const ResizeOptions& resize,
                                           SourceLocation location) {
  DecodeImageOptions as_stored = decode;
  // As many channels as the picture has: 1 or 3.
  if (IsJpeg(bytes) && decode.channels == kRgb) as_stored.channels = 0;
  TD_ASSIGN_OR_RETURN(const HostTensor image, DecodeImage(bytes, as_stored));
  TD_ASSIGN_OR_RETURN(HostTensor resized, Resize(image, height, width, resize, location));
  const bool complete = as_stored.channels == decode.channels || resized.shape()[2] == kRgb;
  return complete ? std::move(resized) : InThreeChannels(resized);
}

}  // namespace tandem
