// libpng's reader, with errors as return values.
#ifndef TANDEM_DATA_IMAGE_PNG_DECODER_H_
#define TANDEM_DATA_IMAGE_PNG_DECODER_H_

#include <png.h>

#include <csetjmp>
#include <cstddef>
#include <cstdint>

namespace tandem::image_internal {

// A libpng call that fails returns by longjmp, to one of the functions below; none of them holds an object with a
// destructor. The PngDecoder itself lives in their caller's frame, and its destructor frees libpng's memory.
class PngDecoder {
 public:
  PngDecoder(const uint8_t* bytes, size_t size) : bytes_(bytes), size_(size) {}
  ~PngDecoder();
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  // Reads the chunks before the pixels. False on an error.
  bool ReadHeader();
  // Chooses the format of the result: `channels` 0 to 4, and 8 or 16 bits, as in DecodeImageOptions. False on an error.
  bool Transform(int channels, int bits);
  // Decodes into height() rows, `stride` bytes apart: samples of 8 bits, or of 16 in the machine's byte order. The
  // bytes of a row are packed at its start. False on an error.
  bool ReadRows(uint8_t* out, size_t stride);

  int64_t height() const { return png_get_image_height(png_, info_); }
  int64_t width() const { return png_get_image_width(png_, info_); }
  // Bytes of all rows in the file's format before compression, as a double, which does not overflow.
  double file_bytes() const;
  // Valid after Transform: channels of the result, and whether its 8-bit samples must be widened to 16 bits.
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
