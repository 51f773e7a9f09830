#include "data/image/jpeg.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/image/image_errors.h"
#include "data/image/jpeg_encoder.h"
#include "data/image/jpeg_rows.h"

namespace tandem {
bool IsJpeg(absl::string_view bytes) { return absl::StartsWith(bytes, "\xff\xd8\xff"); }

absl::StatusOr<HostTensor> DecodeJpeg(absl::string_view bytes, const DecodeImageOptions& options) {
  image_internal::JpegRows rows(bytes, options);
  TD_RETURN_IF_ERROR(rows.Open());
  HostTensor image;
  TD_RETURN_IF_ERROR(CatchResourceErrors(options.name, [&] {
    image = HostTensor(DType::kUInt8, {rows.height(), rows.width(), rows.channels()});
    return image.status();
  }));
  TD_RETURN_IF_ERROR(rows.Read(image.data<uint8_t>(), rows.height(), rows.width() * rows.channels(), [](int64_t) {}));
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
