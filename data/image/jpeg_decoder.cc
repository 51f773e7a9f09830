#include "data/image/jpeg_decoder.h"

#include <jerror.h>

#include <algorithm>

namespace tandem::image_internal {
namespace {

// The most scans that are decoded. Usual encoders write about ten. Each scan costs time for the whole picture, but may
// have only a few bytes, so without a limit a small file could take very long.
constexpr int kMaxScans = 500;

// True for warnings of libjpeg that do not change a pixel.
bool IsHarmless(int code) {
  return code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM || code == JWRN_BOGUS_ICC;
}

constexpr JOCTET kEndOfImage[2] = {0xff, JPEG_EOI};

// Converts a row of CMYK to RGB. Adobe's programs store the complement of the ink values (`complement`), others the
// values themselves.
void CmykToRgb(const JSAMPLE* from, int64_t width, bool complement, uint8_t* to) {
  for (int64_t x = 0; x < width; ++x, from += 4, to += 3) {
    const int k = complement ? from[3] : 255 - from[3];
    for (int c = 0; c < 3; ++c) to[c] = k * (complement ? from[c] : 255 - from[c]) / 255;
  }
}

}  // namespace

JpegDecoder::JpegDecoder(const uint8_t* bytes, size_t size) : size_(size) {
  cinfo_.err = jpeg_std_error(&error_);
  error_.error_exit = Fail;
  error_.emit_message = OnMessage;
  cinfo_.client_data = this;
  source_.next_input_byte = bytes;
  source_.bytes_in_buffer = size;
  source_.init_source = [](j_decompress_ptr) {};
  source_.fill_input_buffer = OnEndOfInput;
  source_.skip_input_data = Skip;
  source_.resync_to_restart = jpeg_resync_to_restart;
  source_.term_source = [](j_decompress_ptr) {};
  progress_.progress_monitor = OnProgress;
}

JpegDecoder::~JpegDecoder() {
  if (created_) jpeg_destroy_decompress(&cinfo_);
}

int64_t JpegDecoder::offset() const { return at_end_ ? size_ : size_ - source_.bytes_in_buffer; }

void JpegDecoder::Fail(j_common_ptr cinfo) {
  JpegDecoder* const decoder = Of(cinfo);
  decoder->error_.format_message(cinfo, decoder->text_);
  longjmp(decoder->landing_, 1);
}

void JpegDecoder::OnMessage(j_common_ptr cinfo, int level) {
  if (level < 0 && !IsHarmless(cinfo->err->msg_code)) Fail(cinfo);
}

boolean JpegDecoder::OnEndOfInput(j_decompress_ptr cinfo) {
  JpegDecoder* const decoder = Of(reinterpret_cast<j_common_ptr>(cinfo));
  // A picture of one scan that lacks only its end marker is complete: the decoder asks for more input because it reads
  // ahead, so it gets an end marker once. In a picture of several scans, later scans may be missing, which is an error.
  const bool first = !decoder->at_end_;
  decoder->at_end_ = true;
  if (!first || decoder->size_ == 0 || jpeg_has_multiple_scans(cinfo)) ERREXIT(cinfo, JERR_INPUT_EOF);
  decoder->source_.next_input_byte = kEndOfImage;
  decoder->source_.bytes_in_buffer = sizeof(kEndOfImage);
  return TRUE;
}

void JpegDecoder::Skip(j_decompress_ptr cinfo, long bytes) {
  if (bytes <= 0) return;
  jpeg_source_mgr* const source = cinfo->src;
  if (static_cast<size_t>(bytes) > source->bytes_in_buffer) {
    Of(reinterpret_cast<j_common_ptr>(cinfo))->at_end_ = true;
    ERREXIT(cinfo, JERR_INPUT_EOF);
  }
  source->next_input_byte += bytes;
  source->bytes_in_buffer -= bytes;
}

void JpegDecoder::OnProgress(j_common_ptr cinfo) {
  JpegDecoder* const decoder = Of(cinfo);
  if (decoder->cinfo_.input_scan_number <= kMaxScans) return;
  cinfo->err->msg_code = JERR_BAD_PROGRESSION;
  snprintf(decoder->text_, sizeof(decoder->text_), "more than %d scans", kMaxScans);
  longjmp(decoder->landing_, 1);
}

bool JpegDecoder::ReadHeader(int channels, int64_t min_height, int64_t min_width, bool fast_dct) {
  if (setjmp(landing_) != 0) return false;
  void* const client_data = cinfo_.client_data;
  jpeg_create_decompress(&cinfo_);  // clears all members of cinfo_ but err and client_data
  cinfo_.client_data = client_data;
  created_ = true;
  cinfo_.src = &source_;
  cinfo_.progress = &progress_;
  jpeg_read_header(&cinfo_, TRUE);
  const bool cmyk = cinfo_.jpeg_color_space == JCS_CMYK || cinfo_.jpeg_color_space == JCS_YCCK;
  if (cinfo_.jpeg_color_space == JCS_UNKNOWN) ERREXIT(&cinfo_, JERR_CONVERSION_NOTIMPL);
  if (channels == 0) channels = cinfo_.num_components == 1 ? 1 : 3;
  if (cmyk && channels == 1) ERREXIT(&cinfo_, JERR_CONVERSION_NOTIMPL);
  cinfo_.out_color_space = cmyk ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  cinfo_.dct_method = fast_dct ? JDCT_IFAST : JDCT_ISLOW;
  cinfo_.do_fancy_upsampling = TRUE;
  cinfo_.scale_num = 1;
  cinfo_.scale_denom = min_height > 0 || min_width > 0 ? 8 : 1;
  for (;; cinfo_.scale_denom /= 2) {
    jpeg_calc_output_dimensions(&cinfo_);
    if (cinfo_.scale_denom == 1) break;
    if (cinfo_.output_height >= min_height && cinfo_.output_width >= min_width) break;
  }
  if (jpeg_has_multiple_scans(&cinfo_)) {
    for (int i = 0; i < cinfo_.num_components; ++i) {
      const jpeg_component_info& c = cinfo_.comp_info[i];
      // libjpeg's buffers for the coefficients are rounded up to whole groups of h_samp_factor x v_samp_factor blocks.
      coefficient_bytes_ += (int64_t{c.width_in_blocks} + c.h_samp_factor) *
                            (int64_t{c.height_in_blocks} + c.v_samp_factor) * static_cast<int64_t>(sizeof(JBLOCK));
    }
  }
  return true;
}

bool JpegDecoder::ReadRows(uint8_t* out, int64_t ring, int64_t stride, absl::FunctionRef<void(int64_t rows)> ready) {
  if (setjmp(landing_) != 0) return false;
  jpeg_start_decompress(&cinfo_);
  const bool cmyk = cinfo_.out_color_space == JCS_CMYK;
  JSAMPARRAY ink = nullptr;
  if (cmyk) {
    ink = cinfo_.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&cinfo_), JPOOL_IMAGE, cinfo_.output_width * 4, 1);
  }
  while (cinfo_.output_scanline < cinfo_.output_height) {
    const int64_t first = cinfo_.output_scanline;
    uint8_t* const to = out + first % ring * stride;
    if (cmyk) {
      jpeg_read_scanlines(&cinfo_, ink, 1);
      CmykToRgb(ink[0], cinfo_.output_width, cinfo_.saw_Adobe_marker, to);
    } else {
      // The rows must not wrap around the end of the ring. They might do so without this limit, because libjpeg may
      // have returned fewer rows than it was asked for.
      const int64_t count = std::min({kRowsAtATime, ring - first % ring, cinfo_.output_height - first});
      JSAMPROW rows[kRowsAtATime];
      for (int64_t i = 0; i < count; ++i) rows[i] = to + i * stride;
      jpeg_read_scanlines(&cinfo_, rows, count);
    }
    ready(cinfo_.output_scanline);
  }
  return true;
}

}  // namespace tandem::image_internal
