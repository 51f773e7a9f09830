#include "data/image/png_encoder.h"

#include <cstdio>

namespace tandem::image_internal {

PngEncoder::~PngEncoder() {
  if (png_ != nullptr) png_destroy_write_struct(&png_, &info_);
}

void PngEncoder::Fail(png_structp png, png_const_charp message) {
  PngEncoder* const encoder = static_cast<PngEncoder*>(png_get_error_ptr(png));
  snprintf(encoder->text_, sizeof(encoder->text_), "%s", message);
  longjmp(encoder->landing_, 1);
}

void PngEncoder::Write(png_structp png, png_bytep bytes, png_size_t count) {
  if (!static_cast<PngEncoder*>(png_get_io_ptr(png))->out_.Append(bytes, count)) png_error(png, "out of memory");
}

bool PngEncoder::Encode(const uint8_t* pixels, int64_t height, int64_t width, int channels, int bits, int compression) {
  if (setjmp(landing_) != 0) return false;
  png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, Fail, [](png_structp, png_const_charp) {});
  if (png_ != nullptr) info_ = png_create_info_struct(png_);
  if (info_ == nullptr) return false;
  png_set_write_fn(png_, this, Write, [](png_structp) {});
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(png_, info_, width, height, bits, kTypes[channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png_, compression);
  png_write_info(png_, info_);
  if (bits == 16) png_set_swap(png_);
  for (int64_t y = 0; y < height; ++y) png_write_row(png_, pixels + y * width * channels * (bits / 8));
  png_write_end(png_, info_);
  return true;
}

}  // namespace tandem::image_internal
