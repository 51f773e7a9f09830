// libpng's reader, with errors as return values.
#ifndef TANDEM_DATA_IMAGE_PNG_DECODER_H_
#define TANDEM_DATA_IMAGE_PNG_DECODER_H_

#include <png.h>

#include <csetjmp>
#include <cstddef>
#include <cstdint>

namespace tandem::image_internal {

// Wraps libpng's reader. A libpng call that fails returns by longjmp to the member function that called it; none of
// these functions holds an object with a destructor. The PngDecoder itself lives in their caller's frame, and its
// destructor frees libpng's memory.
class PngDecoder {
 public:
  PngDecoder(const uint8_t* bytes, size_t size) : bytes_(bytes), size_(size) {}
  ~PngDecoder();
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  // Reads the chunks up to the pixel data. Returns false on an error.
  bool ReadHeader();
  // Chooses the format of the result: 0 to 4 `channels`, and 8 or 16 bits per sample, as in DecodeImageOptions. Returns
  // false on an error.
  bool Transform(int channels, int bits);
  // Decodes into height() rows that are `stride` bytes apart. Samples have 8 bits, or 16 in the machine's byte order,
  // and are packed at the start of each row. Returns false on an error.
  bool ReadRows(uint8_t* out, size_t stride);

  int64_t height() const { return png_get_image_height(png_, info_); }
  int64_t width() const { return png_get_image_width(png_, info_); }
  // The size of all rows before compression, in bytes. It is a double because that does not overflow.
  double file_bytes() const;
  // Valid after Transform: the channels of the result, and whether its samples, decoded to 8 bits, must be widened to
  // 16.
  int channels() const { return channels_; }
  bool widen() const { return widen_; }

  bool out_of_memory() const { return out_of_memory_; }
  const char* error_text() const { return text_; }
  int64_t offset() const { return offset_; }

 private:
  [[noreturn]] static void Fail(png_structp png, png_const_charp message);
  static void Read(png_structp png, png_bytep to, png_size_t bytes);

  const uint8_t* const bytes_;
  const size_t size_;
  size_t offset_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  jmp_buf landing_;
  int channels_ = 0;
  bool widen_ = false;
  bool out_of_memory_ = false;
  char text_[160] = "";
};

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_PNG_DECODER_H_
