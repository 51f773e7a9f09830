// libpng's writer, with errors as return values.
#ifndef TANDEM_DATA_IMAGE_PNG_ENCODER_H_
#define TANDEM_DATA_IMAGE_PNG_ENCODER_H_

#include <png.h>

#include <csetjmp>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "data/image/growing_buffer.h"

namespace tandem::image_internal {

// As in PngDecoder, a libpng call that fails returns by longjmp to Encode, which holds no object with a destructor.
class PngEncoder {
 public:
  PngEncoder() = default;
  ~PngEncoder();
  PngEncoder(const PngEncoder&) = delete;
  PngEncoder& operator=(const PngEncoder&) = delete;

  // `pixels`: packed rows of 8- or 16-bit samples (in the machine's byte order). Returns false on an error. Call it
  // only once.
  bool Encode(const uint8_t* pixels, int64_t height, int64_t width, int channels, int bits, int compression);

  absl::string_view bytes() const { return out_.bytes(); }
  const char* error_text() const { return text_; }

 private:
  [[noreturn]] static void Fail(png_structp png, png_const_charp message);
  static void Write(png_structp png, png_bytep bytes, png_size_t count);

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  jmp_buf landing_;
  GrowingBuffer out_;
  char text_[160] = "out of memory";
};

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_PNG_ENCODER_H_
