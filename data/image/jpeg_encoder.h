// libjpeg's compressor, with errors as return values.
#ifndef TANDEM_DATA_IMAGE_JPEG_ENCODER_H_
#define TANDEM_DATA_IMAGE_JPEG_ENCODER_H_

#include <csetjmp>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include "absl/strings/string_view.h"
#include "data/image/growing_buffer.h"

namespace tandem::image_internal {

// As in JpegDecoder, a libjpeg call that fails returns by longjmp to Encode, which holds no object with a destructor.
class JpegEncoder {
 public:
  JpegEncoder();
  ~JpegEncoder();
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;

  // Returns false on an error. Call it only once.
  bool Encode(const uint8_t* pixels, int64_t height, int64_t width, int64_t channels, int quality,
              bool chroma_downsampling, bool progressive);

  absl::string_view bytes() const { return out_.bytes(); }
  const char* error_text() const { return text_; }

 private:
  static JpegEncoder* Of(j_common_ptr cinfo) { return static_cast<JpegEncoder*>(cinfo->client_data); }
  [[noreturn]] static void Fail(j_common_ptr cinfo);
  static boolean Flush(j_compress_ptr cinfo);

  jpeg_compress_struct cinfo_ = {};
  jpeg_error_mgr error_ = {};
  jpeg_destination_mgr destination_ = {};
  jmp_buf landing_;
  bool created_ = false;
  JOCTET chunk_[16384];
  GrowingBuffer out_;
  char text_[JMSG_LENGTH_MAX] = "";
};

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_JPEG_ENCODER_H_
