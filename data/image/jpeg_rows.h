// Decodes a JPEG picture row by row.
#ifndef TANDEM_DATA_IMAGE_JPEG_ROWS_H_
#define TANDEM_DATA_IMAGE_JPEG_ROWS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "data/image/decode_options.h"
#include "data/image/jpeg_decoder.h"

namespace tandem::image_internal {

// Decodes one picture. Errors are those of DecodeJpeg.
class JpegRows {
 public:
  // Both arguments must outlive this object.
  JpegRows(absl::string_view bytes, const DecodeImageOptions& options);

  // Reads the header. Must be called first.
  absl::Status Open();
  int64_t height() const { return decoder_.height(); }
  int64_t width() const { return decoder_.width(); }
  int64_t channels() const { return decoder_.channels(); }

  // Read decodes the picture into a ring buffer of `ring` rows: row y starts at rows + y % ring * stride. It calls
  // `ready`(n) when all rows below n are decoded; n grows by at most kRowsAtATime per call.
  static constexpr int64_t kRowsAtATime = JpegDecoder::kRowsAtATime;
  absl::Status Read(uint8_t* rows, int64_t ring, int64_t stride, absl::FunctionRef<void(int64_t rows)> ready);

 private:
  absl::Status Error() const;

  const absl::string_view bytes_;
  const DecodeImageOptions& options_;
  JpegDecoder decoder_;
};

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_JPEG_ROWS_H_
