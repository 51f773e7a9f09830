#include "data/image/png.h"

#include <cstring>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/out_of_memory.h"
#include "base/printable.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/image/image_errors.h"
#include "data/image/png_decoder.h"
#include "data/image/png_encoder.h"

namespace tandem {
namespace {

using image_internal::PngDecoder;

// The largest ratio by which deflate compresses: a match of 258 bytes takes at least two bits.
constexpr double kMaxDeflateRatio = 1032;

absl::Status ErrorOf(const PngDecoder& decoder, const DecodeImageOptions& options, size_t size) {
  if (decoder.out_of_memory()) {
    return OutOfMemoryError(absl::StrCat(PrintableLine(options.name), ": no memory to decode the PNG picture"));
  }
  return image_internal::Broken(options, "PNG", decoder.offset(), size, decoder.error_text());
}

// Converts the `count` samples at the start of the row to int32 in place, from the last to the first.
void WidenRow(bool from_8_bits, int64_t count, int32_t* row) {
  const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(row);
  for (int64_t i = count - 1; i >= 0; --i) {
    if (from_8_bits) {
      row[i] = bytes[i] * 257;
    } else {
      uint16_t sample;
      memcpy(&sample, bytes + 2 * i, sizeof(sample));
      row[i] = sample;
    }
  }
}

}  // namespace

bool IsPng(absl::string_view bytes) { return absl::StartsWith(bytes, "\x89PNG\r\n\x1a\n"); }

absl::StatusOr<HostTensor> DecodePng(absl::string_view bytes, const DecodeImageOptions& options) {
  TD_RETURN_IF_ERROR(image_internal::CheckOptions(options, "PNG"));
  PngDecoder decoder(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (!decoder.ReadHeader()) return ErrorOf(decoder, options, bytes.size());
  const int64_t height = decoder.height(), width = decoder.width();
  // Before Transform allocates memory for rows, this checks the size for a single channel, the least that is possible.
  const int64_t sample_bytes = options.bits == 16 ? 4 : 1;
  TD_RETURN_IF_ERROR(image_internal::CheckSize(options, "PNG", height, width, sample_bytes, 0));
  if (decoder.file_bytes() > kMaxDeflateRatio * bytes.size()) {
    return image_internal::Broken(
        options, "PNG", decoder.offset(), bytes.size(),
        absl::StrCat("the header declares ", height, " x ", width, " pixels, more than so short a file can hold"));
  }
  if (!decoder.Transform(options.channels, options.bits)) return ErrorOf(decoder, options, bytes.size());
  const int64_t channels = decoder.channels();
  TD_RETURN_IF_ERROR(image_internal::CheckSize(options, "PNG", height, width, channels * sample_bytes, 0));
  HostTensor image;
  TD_RETURN_IF_ERROR(CatchResourceErrors(options.name, [&] {
    image = HostTensor(sample_bytes == 4 ? DType::kInt32 : DType::kUInt8, {height, width, channels});
    return image.status();
  }));
  uint8_t* const out = static_cast<uint8_t*>(image.raw());
  if (!decoder.ReadRows(out, width * channels * sample_bytes)) return ErrorOf(decoder, options, bytes.size());
  if (int32_t* row = sample_bytes == 4 ? image.data<int32_t>() : nullptr; row != nullptr) {
    for (int64_t y = 0; y < height; ++y, row += width * channels) WidenRow(decoder.widen(), width * channels, row);
  }
  return image;
}

absl::StatusOr<std::string> EncodePng(const HostTensor& image, const EncodePngOptions& options) {
  TD_RETURN_IF_ERROR(image_internal::CheckEncodable("EncodePng", image, {1, 2, 3, 4}));
  if (options.compression < 0 || options.compression > 9) {
    return absl::InvalidArgumentError(
        absl::StrCat("EncodePng: compression is ", options.compression, "; it must be from 0 to 9"));
  }
  if (image.dtype() != DType::kUInt8 && image.dtype() != DType::kInt32) {
    return absl::InvalidArgumentError(absl::StrCat("EncodePng: the image is of type ", Name(image.dtype()),
                                                   "; PNG takes uint8, or int32 from 0 to 65535"));
  }
  return CatchResourceErrors("EncodePng", [&]() -> absl::StatusOr<std::string> {
    std::vector<uint16_t> narrow;
    for (const int32_t v : image.dtype() == DType::kInt32 ? image.values<int32_t>() : absl::Span<const int32_t>()) {
      if (v < 0 || v > 65535) {
        return absl::InvalidArgumentError(
            absl::StrCat("EncodePng: the image holds the value ", v, "; 16-bit samples go from 0 to 65535"));
      }
      narrow.push_back(v);
    }
    const bool wide = image.dtype() == DType::kInt32;
    const void* const pixels = wide ? static_cast<const void*>(narrow.data()) : image.raw();
    const Shape& shape = image.shape();
    image_internal::PngEncoder encoder;
    if (!encoder.Encode(static_cast<const uint8_t*>(pixels), shape[0], shape[1], shape[2], wide ? 16 : 8,
                        options.compression)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("EncodePng: an image of ", ShapeString(shape), ": ", encoder.error_text()));
    }
    return std::string(encoder.bytes());
  });
}

}  // namespace tandem
