// Bilinear interpolation of bytes along both axes at once, for CPUs with AVX2.
#ifndef TANDEM_DATA_IMAGE_LERP_TWO_ROWS_H_
#define TANDEM_DATA_IMAGE_LERP_TWO_ROWS_H_

#include <cstdint>

#include "data/image/resize_axis.h"

namespace tandem::image_internal {

// True if LerpTwoRows may be called: the CPU has AVX2, and pixels have 1 or 3 channels.
bool CanLerpTwoRows(int64_t channels);

// Makes an output row of columns.lower.size() pixels from two rows of `width` pixels: the same bits as LerpColumns of
// both and then LerpRows. It is faster if most rows of the input are used only once, because a pixel and its right
// neighbour are one load, and both rows are in one vector.
void LerpTwoRows(const uint8_t* lower, const uint8_t* upper, int64_t width, int64_t channels, const LerpAxis& columns,
                 float row_fraction, float* out);

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_LERP_TWO_ROWS_H_
