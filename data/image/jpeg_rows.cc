#include "data/image/jpeg_rows.h"

#include <jerror.h>

#include "absl/strings/str_cat.h"
#include "base/out_of_memory.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "data/image/image_errors.h"

namespace tandem::image_internal {

JpegRows::JpegRows(absl::string_view bytes, const DecodeImageOptions& options)
    : bytes_(bytes), options_(options), decoder_(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()) {}

absl::Status JpegRows::Error() const {
  switch (decoder_.error_code()) {
    case JERR_OUT_OF_MEMORY:
      return OutOfMemoryError(absl::StrCat(PrintableLine(options_.name), ": no memory to decode the JPEG picture"));
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
      return absl::UnimplementedError(
          absl::StrCat(PrintableLine(options_.name), ": a JPEG picture of a kind that is not supported, at byte ",
                       decoder_.offset(), " of ", bytes_.size(), ": ", decoder_.error_text(),
                       "; convert it to baseline or progressive JPEG of 8 bits, grey or RGB"));
    default:
      return Broken(options_, "JPEG", decoder_.offset(), bytes_.size(), decoder_.error_text());
  }
}

absl::Status JpegRows::Open() {
  TD_RETURN_IF_ERROR(CheckOptions(options_, "JPEG"));
  if (!decoder_.ReadHeader(options_.channels, options_.min_height, options_.min_width, options_.fast_dct)) {
    return Error();
  }
  return CheckSize(options_, "JPEG", height(), width(), channels(), decoder_.coefficient_bytes());
}

absl::Status JpegRows::Read(uint8_t* rows, int64_t ring, int64_t stride, absl::FunctionRef<void(int64_t rows)> ready) {
  return decoder_.ReadRows(rows, ring, stride, ready) ? absl::OkStatus() : Error();
}

}  // namespace tandem::image_internal
