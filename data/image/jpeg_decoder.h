// libjpeg's decompressor, with errors as return values.
#ifndef TANDEM_DATA_IMAGE_JPEG_DECODER_H_
#define TANDEM_DATA_IMAGE_JPEG_DECODER_H_

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include "absl/functional/function_ref.h"

namespace tandem::image_internal {

// Wraps a libjpeg decompressor. A libjpeg call that fails returns by longjmp to the member function that called it;
// none of these functions holds an object with a destructor. The JpegDecoder itself lives in their caller's frame, and
// its destructor frees libjpeg's memory.
class JpegDecoder {
 public:
  JpegDecoder(const uint8_t* bytes, size_t size);
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  // Reads the headers up to the first scan. `channels` is 0, 1 or 3, as in DecodeImageOptions. False on an error.
  bool ReadHeader(int channels, int64_t min_height, int64_t min_width, bool fast_dct);
  // ReadRows decodes all rows, at most kRowsAtATime at a time, as JpegRows::Read describes. It returns false on an
  // error.
  static constexpr int64_t kRowsAtATime = 8;
  bool ReadRows(uint8_t* out, int64_t ring, int64_t stride, absl::FunctionRef<void(int64_t rows)> ready);

  int64_t height() const { return cinfo_.output_height; }
  int64_t width() const { return cinfo_.output_width; }
  int channels() const { return cinfo_.out_color_space == JCS_GRAYSCALE ? 1 : 3; }
  // Bytes of the buffers for the coefficients of a picture with several scans; 0 for others.
  int64_t coefficient_bytes() const { return coefficient_bytes_; }

  // The last error: libjpeg's message code (jerror.h), its text, and how far the input was read.
  int error_code() const { return error_.msg_code; }
  const char* error_text() const { return text_; }
  int64_t offset() const;

 private:
  static JpegDecoder* Of(j_common_ptr cinfo) { return static_cast<JpegDecoder*>(cinfo->client_data); }
  [[noreturn]] static void Fail(j_common_ptr cinfo);
  static void OnMessage(j_common_ptr cinfo, int level);
  static boolean OnEndOfInput(j_decompress_ptr cinfo);
  static void Skip(j_decompress_ptr cinfo, long bytes);
  static void OnProgress(j_common_ptr cinfo);

  jpeg_decompress_struct cinfo_ = {};
  jpeg_error_mgr error_ = {};
  jpeg_source_mgr source_ = {};
  jpeg_progress_mgr progress_ = {};
  jmp_buf landing_;
  bool created_ = false;
  const size_t size_;
  int64_t coefficient_bytes_ = 0;
  bool at_end_ = false;
  char text_[JMSG_LENGTH_MAX] = "";
};

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_JPEG_DECODER_H_
