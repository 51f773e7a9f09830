#include "data/image/png_decoder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tandem::image_internal {

PngDecoder::~PngDecoder() {
  if (png_ != nullptr) png_destroy_read_struct(&png_, &info_, nullptr);
}

double PngDecoder::file_bytes() const {
  const double bits = png_get_bit_depth(png_, info_) * png_get_channels(png_, info_);
  return static_cast<double>(height()) * width() * bits / 8;
}

void PngDecoder::Fail(png_structp png, png_const_charp message) {
  PngDecoder* const decoder = static_cast<PngDecoder*>(png_get_error_ptr(png));
  snprintf(decoder->text_, sizeof(decoder->text_), "%s", message);
  // A lack of memory is recognised by the message's text, of which libpng has several and zlib has its own.
  decoder->out_of_memory_ =
      errno == ENOMEM || strstr(message, "ut of memory") != nullptr || strstr(message, "ut of Memory") != nullptr;
  longjmp(decoder->landing_, 1);
}

void PngDecoder::Read(png_structp png, png_bytep to, png_size_t bytes) {
  PngDecoder* const decoder = static_cast<PngDecoder*>(png_get_io_ptr(png));
  if (bytes > decoder->size_ - decoder->offset_) {
    decoder->offset_ = decoder->size_;
    png_error(png, "the file ends within the picture");
  }
  memcpy(to, decoder->bytes_ + decoder->offset_, bytes);
  decoder->offset_ += bytes;
}

bool PngDecoder::ReadHeader() {
  errno = 0;
  if (setjmp(landing_) != 0) return false;
  png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, Fail, [](png_structp, png_const_charp) {});
  if (png_ != nullptr) info_ = png_create_info_struct(png_);
  if (info_ == nullptr) {
    out_of_memory_ = true;
    return false;
  }
  png_set_read_fn(png_, this, Read);
  // The limits of libpng are lifted because the caller checks the sizes. Chunks with texts, colour profiles and the
  // like are skipped and never inflated.
  png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(png_, info_);
  return true;
}

bool PngDecoder::Transform(int channels, int bits) {
  errno = 0;
  if (setjmp(landing_) != 0) return false;
  const int type = png_get_color_type(png_, info_), depth = png_get_bit_depth(png_, info_);
  const bool palette = type == PNG_COLOR_TYPE_PALETTE, grey = (type & PNG_COLOR_MASK_COLOR) == 0;
  const bool transparent = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
  if (channels == 0) channels = palette ? (transparent ? 4 : 3) : png_get_channels(png_, info_);
  const bool want_alpha = channels == 2 || channels == 4;
  if (palette) png_set_palette_to_rgb(png_);
  if (grey && depth < 8) png_set_expand_gray_1_2_4_to_8(png_);
  if (transparent && want_alpha) png_set_tRNS_to_alpha(png_);
  if (!want_alpha) {
    // libpng also turns the transparent colours of a palette into an alpha channel, which is removed here.
    if ((type & PNG_COLOR_MASK_ALPHA) != 0 || (palette && transparent)) png_set_strip_alpha(png_);
  } else if ((type & PNG_COLOR_MASK_ALPHA) == 0 && !transparent) {
    png_set_add_alpha(png_, 0xffff, PNG_FILLER_AFTER);
  }
  if (channels <= 2 && !grey) png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (channels > 2 && grey) png_set_gray_to_rgb(png_);
  if (depth == 16) bits == 8 ? png_set_strip_16(png_) : png_set_swap(png_);
  png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
  channels_ = channels;
  widen_ = bits == 16 && depth < 16;
  if (png_get_channels(png_, info_) != channels || png_get_bit_depth(png_, info_) != (widen_ ? 8 : bits)) {
    png_error(png_, "libpng does not give the form that was asked for");
  }
  return true;
}

bool PngDecoder::ReadRows(uint8_t* out, size_t stride) {
  errno = 0;
  if (setjmp(landing_) != 0) return false;
  const int passes = png_get_interlace_type(png_, info_) == PNG_INTERLACE_ADAM7 ? PNG_INTERLACE_ADAM7_PASSES : 1;
  const size_t height = png_get_image_height(png_, info_);
  for (int pass = 0; pass < passes; ++pass) {
    for (size_t y = 0; y < height; ++y) png_read_row(png_, out + y * stride, nullptr);
  }
  png_read_end(png_, nullptr);
  return true;
}

}  // namespace tandem::image_internal
