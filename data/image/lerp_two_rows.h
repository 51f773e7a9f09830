// Bilinear interpolation of bytes along both axes at once, for CPUs with AVX2.
#ifndef TANDEM_DATA_IMAGE_LERP_TWO_ROWS_H_
#define TANDEM_DATA_IMAGE_LERP_TWO_ROWS_H_

#include <cstdint>

#include "data/image/resize_axis.h"

namespace tandem::image_internal {

// Whether LerpTwoRows may be called: the CPU has AVX2, and pixels have 1 or 3 channels.
bool CanLerpTwoRows(int64_t channels);

// A row of columns.lower.size() pixels between two rows of `width` pixels: what LerpColumns of both and then LerpRows
// make, bit for bit. Faster where most rows of the input are used once, since a pixel and its right neighbour are one
// load, and both rows one vector.
void LerpTwoRows(const uint8_t* lower, const uint8_t* upper, int64_t width, int64_t channels, const LerpAxis& columns,
                 float row_fraction, float* out);

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_LERP_TWO_ROWS_H_
