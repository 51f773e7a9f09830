#include "data/image/jpeg_encoder.h"

#include <jerror.h>

namespace tandem::image_internal {

JpegEncoder::JpegEncoder() {
  cinfo_.err = jpeg_std_error(&error_);
  error_.error_exit = Fail;
  error_.emit_message = [](j_common_ptr, int) {};
  cinfo_.client_data = this;
  destination_.init_destination = [](j_compress_ptr cinfo) {
    JpegEncoder* const encoder = Of(reinterpret_cast<j_common_ptr>(cinfo));
    cinfo->dest->next_output_byte = encoder->chunk_;
    cinfo->dest->free_in_buffer = sizeof(encoder->chunk_);
  };
  destination_.empty_output_buffer = Flush;
  destination_.term_destination = [](j_compress_ptr cinfo) {
    JpegEncoder* const encoder = Of(reinterpret_cast<j_common_ptr>(cinfo));
    const size_t used = sizeof(encoder->chunk_) - cinfo->dest->free_in_buffer;
    if (!encoder->out_.Append(encoder->chunk_, used)) ERREXIT1(cinfo, JERR_OUT_OF_MEMORY, 0);
  };
}

JpegEncoder::~JpegEncoder() {
  if (created_) jpeg_destroy_compress(&cinfo_);
}

void JpegEncoder::Fail(j_common_ptr cinfo) {
  JpegEncoder* const encoder = Of(cinfo);
  encoder->error_.format_message(cinfo, encoder->text_);
  longjmp(encoder->landing_, 1);
}

// libjpeg calls this when the output buffer is full. By its rules the whole chunk is written then, whatever
// free_in_buffer says.
boolean JpegEncoder::Flush(j_compress_ptr cinfo) {
  JpegEncoder* const encoder = Of(reinterpret_cast<j_common_ptr>(cinfo));
  if (!encoder->out_.Append(encoder->chunk_, sizeof(encoder->chunk_))) ERREXIT1(cinfo, JERR_OUT_OF_MEMORY, 0);
  cinfo->dest->next_output_byte = encoder->chunk_;
  cinfo->dest->free_in_buffer = sizeof(encoder->chunk_);
  return TRUE;
}

bool JpegEncoder::Encode(const uint8_t* pixels, int64_t height, int64_t width, int64_t channels, int quality,
                         bool chroma_downsampling, bool progressive) {
  if (setjmp(landing_) != 0) return false;
  void* const client_data = cinfo_.client_data;
  jpeg_create_compress(&cinfo_);  // clears all members of cinfo_ but err and client_data
  cinfo_.client_data = client_data;
  created_ = true;
  cinfo_.dest = &destination_;
  cinfo_.image_height = height;
  cinfo_.image_width = width;
  cinfo_.input_components = channels;
  cinfo_.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&cinfo_);  // also chooses chroma at half the height and width
  jpeg_set_quality(&cinfo_, quality, TRUE);
  if (!chroma_downsampling) cinfo_.comp_info[0].h_samp_factor = cinfo_.comp_info[0].v_samp_factor = 1;
  if (progressive) jpeg_simple_progression(&cinfo_);
  jpeg_start_compress(&cinfo_, TRUE);
  while (cinfo_.next_scanline < cinfo_.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(pixels + cinfo_.next_scanline * width * channels);
    jpeg_write_scanlines(&cinfo_, &row, 1);
  }
  jpeg_finish_compress(&cinfo_);
  return true;
}

}  // namespace tandem::image_internal
