#include "data/image/decode_resize.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/image/decode_image.h"
#include "data/image/image_argument.h"
#include "data/image/jpeg.h"
#include "data/image/jpeg_rows.h"
#include "data/image/row_resizer.h"

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

// The same bits as DecodeJpeg and Resize: every row is resized while it is in a cache of the CPU.
absl::StatusOr<HostTensor> ResizeWhileDecoding(absl::string_view bytes, int64_t height, int64_t width,
                                               const DecodeImageOptions& decode, const ResizeOptions& resize,
                                               SourceLocation location) {
  image_internal::JpegRows rows(bytes, decode);
  TD_RETURN_IF_ERROR(rows.Open());
  const Shape shape = {height, width, rows.channels()};
  TD_RETURN_IF_ERROR(CheckResult(image_internal::Call{"Resize", location}, shape));
  return CatchResourceErrors(decode.name, [&]() -> absl::StatusOr<HostTensor> {
    HostTensor result(resize.round_to_uint8 ? DType::kUInt8 : DType::kFloat32, shape);
    TD_RETURN_IF_ERROR(result.status());
    image_internal::RowResizer<uint8_t> resizer(resize, rows.height(), rows.width(), &result);
    // Those that came last, and those that are to come next.
    const int64_t kept = resizer.span() + 2 * image_internal::JpegRows::kRowsAtATime;
    const int64_t row_bytes = rows.width() * rows.channels(), ring = std::min(kept, rows.height());
    std::vector<uint8_t> pixels(ring * row_bytes);
    TD_RETURN_IF_ERROR(rows.Read(pixels.data(), ring, [&](int64_t count) {
      resizer.Advance({pixels.data(), ring, row_bytes}, count);
    }));
    return result;
  });
}

}  // namespace

absl::StatusOr<HostTensor> DecodeAndResize(absl::string_view bytes, int64_t height, int64_t width,
                                           const DecodeImageOptions& decode, const ResizeOptions& resize,
                                           SourceLocation location) {
  if (!IsJpeg(bytes)) {
    TD_ASSIGN_OR_RETURN(const HostTensor image, DecodeImage(bytes, decode));
    return Resize(image, height, width, resize, location);
  }
  DecodeImageOptions as_stored = decode;
  if (decode.channels == kRgb) as_stored.channels = 0;  // as many as the picture has: 1 or 3
  TD_ASSIGN_OR_RETURN(HostTensor resized, ResizeWhileDecoding(bytes, height, width, as_stored, resize, location));
  const bool complete = as_stored.channels == decode.channels || resized.shape()[2] == kRgb;
  return complete ? std::move(resized) : InThreeChannels(resized);
}

}  // namespace tandem
