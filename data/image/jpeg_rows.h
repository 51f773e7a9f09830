// A JPEG picture whose rows come one after another.
#ifndef TANDEM_DATA_IMAGE_JPEG_ROWS_H_
#define TANDEM_DATA_IMAGE_JPEG_ROWS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "data/image/decode_options.h"
#include "data/image/jpeg_decoder.h"

namespace tandem::image_internal {

// Errors: those of DecodeJpeg.
class JpegRows {
 public:
  // Both must outlive this.
  JpegRows(absl::string_view bytes, const DecodeImageOptions& options);

  // To be called first: reads the header.
  absl::Status Open();
  int64_t height() const { return decoder_.height(); }
  int64_t width() const { return decoder_.width(); }
  int64_t channels() const { return decoder_.channels(); }

  // Decodes the picture. Row y goes to rows + y % ring * width() * channels(): there is room for `ring` rows.
  // `ready`(n) is called when the rows below n, at most kRowsAtATime more than before, have come.
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
