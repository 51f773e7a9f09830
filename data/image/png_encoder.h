// libpng's writer with errors as return values.
#ifndef TANDEM_DATA_IMAGE_PNG_ENCODER_H_
#define TANDEM_DATA_IMAGE_PNG_ENCODER_H_

#include <png.h>

#include <csetjmp>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "data/image/growing_buffer.h"

namespace tandem::image_internal {

// As PngDecoder: what libpng leaves by longjmp lands in Encode, which holds no object with a destructor.
class PngEncoder {
 public:
  PngEncoder() = default;
  ~PngEncoder();
  PngEncoder(const PngEncoder&) = delete;
  PngEncoder& operator=(const PngEncoder&) = delete;

  // Rows of 8- or 16-bit samples (in the machine's order), packed. False on an error. To be called once.
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
