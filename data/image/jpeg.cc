#include "data/image/jpeg.h"

#include <jerror.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/image/image_errors.h"
#include "data/image/jpeg_decoder.h"
#include "data/image/jpeg_encoder.h"

namespace tandem {
namespace {

using image_internal::JpegDecoder;

absl::Status ErrorOf(const JpegDecoder& decoder, const DecodeImageOptions& options, size_t size) {
  switch (decoder.error_code()) {
    case JERR_OUT_OF_MEMORY:
      return absl::ResourceExhaustedError(
          absl::StrCat(PrintableLine(options.name), ": no memory to decode the JPEG picture"));
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
      return absl::UnimplementedError(
          absl::StrCat(PrintableLine(options.name), ": a JPEG picture of a kind that is not supported, at byte ",
                       decoder.offset(), " of ", size, ": ", decoder.error_text(),
                       "; convert it to baseline or progressive JPEG of 8 bits, grey or RGB"));
    default:
      return image_internal::Broken(options, "JPEG", decoder.offset(), size, decoder.error_text());
  }
}

}  // namespace

bool IsJpeg(absl::string_view bytes) { return absl::StartsWith(bytes, "\xff\xd8\xff"); }

absl::StatusOr<HostTensor> DecodeJpeg(absl::string_view bytes, const DecodeImageOptions& options) {
  TD_RETURN_IF_ERROR(image_internal::CheckOptions(options, "JPEG"));
  JpegDecoder decoder(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (!decoder.ReadHeader(options.channels, options.min_height, options.min_width, options.fast_dct)) {
    return ErrorOf(decoder, options, bytes.size());
  }
  const int64_t height = decoder.height(), width = decoder.width(), channels = decoder.channels();
  TD_RETURN_IF_ERROR(image_internal::CheckSize(options, "JPEG", height, width, channels, decoder.coefficient_bytes()));
  HostTensor image;
  TD_RETURN_IF_ERROR(CatchResourceErrors(options.name, [&] {
    image = HostTensor(DType::kUInt8, {height, width, channels});
    return image.status();
  }));
  if (!decoder.ReadRows(image.data<uint8_t>(), width * channels)) return ErrorOf(decoder, options, bytes.size());
  return image;
}

absl::StatusOr<std::string> EncodeJpeg(const HostTensor& image, const EncodeJpegOptions& options) {
  TD_RETURN_IF_ERROR(image_internal::CheckEncodable("EncodeJpeg", image, {1, 3}));
  if (image.dtype() != DType::kUInt8) {
    return absl::InvalidArgumentError(
        absl::StrCat("EncodeJpeg: the image is of type ", Name(image.dtype()), "; JPEG takes uint8 from 0 to 255"));
  }
  if (options.quality < 1 || options.quality > 100) {
    return absl::InvalidArgumentError(
        absl::StrCat("EncodeJpeg: quality is ", options.quality, "; it must be from 1 to 100"));
  }
  image_internal::JpegEncoder encoder;
  if (!encoder.Encode(image.data<uint8_t>(), image.shape()[0], image.shape()[1], image.shape()[2], options.quality,
                      options.chroma_downsampling, options.progressive)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("EncodeJpeg: an image of ", ShapeString(image.shape()), ": ", encoder.error_text()));
  }
  return CatchResourceErrors("EncodeJpeg",
                             [&]() -> absl::StatusOr<std::string> { return std::string(encoder.bytes()); });
}

}  // namespace tandem
