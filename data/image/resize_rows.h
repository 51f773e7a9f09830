// What resizing does with a row: the inner loops, compiled for several instruction sets. A row is `n` floats, or
// `width` pixels of `channels` values each. Nothing is contracted to fused operations, so that all instruction sets
// agree.
#ifndef TANDEM_DATA_IMAGE_RESIZE_ROWS_H_
#define TANDEM_DATA_IMAGE_RESIZE_ROWS_H_

#include <cstdint>

#include "data/image/resize_axis.h"

namespace tandem::image_internal {

// out[i] = a[i] + (b[i] - a[i]) * fraction.
void LerpRows(const float* a, const float* b, float fraction, int64_t n, float* out);
// out[i] = weight * a[i], or with Add, out[i] += weight * a[i].
void ScaleRow(const uint8_t* a, float weight, int64_t n, float* out);
void ScaleRow(const float* a, float weight, int64_t n, float* out);
void AddScaledRow(const uint8_t* a, float weight, int64_t n, float* out);
void AddScaledRow(const float* a, float weight, int64_t n, float* out);
// Rounded to the nearest integer, halves to the even one, within 0 and 255; NaN becomes 0.
void RoundRow(const float* a, int64_t n, uint8_t* out);

// A row of axis.lower.size() or axis.start.size() pixels, of one of `width` pixels.
void LerpColumns(const uint8_t* row, int64_t width, int64_t channels, const LerpAxis& axis, float* out);
void LerpColumns(const float* row, int64_t width, int64_t channels, const LerpAxis& axis, float* out);
void SumColumns(const uint8_t* row, int64_t width, int64_t channels, const SumAxis& axis, float* out);
void SumColumns(const float* row, int64_t width, int64_t channels, const SumAxis& axis, float* out);

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_RESIZE_ROWS_H_
