#include "data/image/decode_resize.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/image/decode_image.h"
#include "data/image/image_argument.h"
#include "data/image/jpeg.h"
#include "data/image/jpeg_rows.h"
#include "data/image/row_resizer.h"

namespace tandem {
namespace {

using image_internal::Call;
using image_internal::JpegRows;

constexpr int kRgb = 3;

template <typename T>
void Repeat(const T* __restrict grey, int64_t pixels, T* __restrict rgb) {
  for (int64_t i = 0; i < pixels; ++i) {
    for (int c = 0; c < kRgb; ++c) rgb[kRgb * i + c] = grey[i];
  }
}

// Copies [height, width, 1] to [height, width, 3].
void InThreeChannels(const HostTensor& grey, const ComponentBuffer& rgb) {
  if (grey.dtype() == DType::kUInt8) {
    Repeat(grey.data<uint8_t>(), grey.num_elements(), rgb.data<uint8_t>());
  } else {
    Repeat(grey.data<float>(), grey.num_elements(), rgb.data<float>());
  }
}

// Rows begin 8 bytes after a multiple of this, and so are not aligned. To aligned rows libjpeg-turbo writes with stores
// that bypass the caches, which is slow here because the rows are read at once.
constexpr int64_t kAlignment = 64;

// Resizes every decoded row while it is still in a cache of the CPU. `out` must have as many channels as the picture.
absl::Status ResizeWhileDecoding(JpegRows& jpeg, const ResizeOptions& resize, const ComponentBuffer& out) {
  image_internal::RowResizer<uint8_t> resizer(resize, jpeg.height(), jpeg.width(), out);
  // The ring buffer holds the latest rows, which are still needed, and the rows that are decoded next.
  const int64_t ring = std::min(resizer.span() + 2 * JpegRows::kRowsAtATime, jpeg.height());
  const int64_t stride = (jpeg.width() * jpeg.channels() / kAlignment + 1) * kAlignment;
  std::vector<uint8_t> memory(ring * stride + 2 * kAlignment);
  uint8_t* const rows = memory.data() + kAlignment - reinterpret_cast<uintptr_t>(memory.data()) % kAlignment + 8;
  return jpeg.Read(rows, ring, stride, [&](int64_t count) { resizer.Advance({rows, ring, stride}, count); });
}

// Fills `out`, which has as many channels as `jpeg`, or 3 for a grey picture.
absl::Status Fill(JpegRows& jpeg, const ResizeOptions& resize, const ComponentBuffer& out) {
  if (jpeg.channels() == out.shape[2]) return ResizeWhileDecoding(jpeg, resize, out);
  HostTensor grey(out.dtype, {out.shape[0], out.shape[1], 1});
  TD_RETURN_IF_ERROR(grey.status());
  TD_RETURN_IF_ERROR(ResizeWhileDecoding(jpeg, resize, ComponentBuffer::Of(grey)));
  InThreeChannels(grey, out);
  return absl::OkStatus();
}

// Returns options that decode as many channels as the picture has (1 or 3) if 3 are requested. A grey picture gets its
// three channels only after resizing.
DecodeImageOptions AsStored(const DecodeImageOptions& decode) {
  DecodeImageOptions options = decode;
  if (options.channels == kRgb) options.channels = 0;
  return options;
}

absl::Status CheckBuffer(const Call& call, const ComponentBuffer& out) {
  if (out.shape.size() != 3 || (out.dtype != DType::kFloat32 && out.dtype != DType::kUInt8)) {
    return call.Wrong("the result is of ", Name(out.dtype), ShapeString(out.shape),
                      "; it must be [height, width, channels] of float32 or uint8");
  }
  TD_RETURN_IF_ERROR(CheckResult(call, out.shape));
  if (out.shape[2] < 1 || out.shape[2] > 4) {
    return call.Wrong("the result has ", out.shape[2], " channels; pictures have 1 to 4");
  }
  return out.memory != nullptr ? absl::OkStatus() : call.Wrong("the memory of the result is null");
}

}  // namespace

absl::StatusOr<HostTensor> DecodeAndResize(absl::string_view bytes, int64_t height, int64_t width,
                                           const DecodeImageOptions& decode, const ResizeOptions& resize,
                                           SourceLocation location) {
  if (!IsJpeg(bytes)) {
    TD_ASSIGN_OR_RETURN(const HostTensor image, DecodeImage(bytes, decode));
    return Resize(image, height, width, resize, location);
  }
  const DecodeImageOptions as_stored = AsStored(decode);
  JpegRows jpeg(bytes, as_stored);
  TD_RETURN_IF_ERROR(jpeg.Open());
  const Shape shape = {height, width, decode.channels == 0 ? jpeg.channels() : decode.channels};
  TD_RETURN_IF_ERROR(CheckResult(Call{"Resize", location}, shape));
  return CatchResourceErrors(decode.name, [&]() -> absl::StatusOr<HostTensor> {
    HostTensor result(resize.round_to_uint8 ? DType::kUInt8 : DType::kFloat32, shape);
    TD_RETURN_IF_ERROR(result.status());
    TD_RETURN_IF_ERROR(Fill(jpeg, resize, ComponentBuffer::Of(result)));
    return result;
  });
}

absl::Status DecodeAndResizeInto(absl::string_view bytes, const ComponentBuffer& out, const DecodeImageOptions& decode,
                                 const ResizeOptions& resize, SourceLocation location) {
  TD_RETURN_IF_ERROR(CheckBuffer(Call{"DecodeAndResizeInto", location}, out));
  DecodeImageOptions as_out = decode;
  as_out.channels = static_cast<int>(out.shape[2]);
  if (!IsJpeg(bytes)) {
    ResizeOptions rounded = resize;
    rounded.round_to_uint8 = out.dtype == DType::kUInt8;
    TD_ASSIGN_OR_RETURN(const HostTensor result,
                        DecodeAndResize(bytes, out.shape[0], out.shape[1], as_out, rounded, location));
    std::memcpy(out.memory, result.raw(), result.byte_size());
    return absl::OkStatus();
  }
  const DecodeImageOptions as_stored = AsStored(as_out);
  JpegRows jpeg(bytes, as_stored);
  TD_RETURN_IF_ERROR(jpeg.Open());
  return CatchResourceErrors(decode.name, [&] { return Fill(jpeg, resize, out); });
}

}  // namespace tandem
