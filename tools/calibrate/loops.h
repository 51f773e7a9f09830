// The loops whose speed is measured. They are compiled for several instruction sets, and the best one that the machine
// supports is used.
#ifndef TANDEM_TOOLS_CALIBRATE_LOOPS_H_
#define TANDEM_TOOLS_CALIBRATE_LOOPS_H_

#include <cstdint>

namespace tandem {

// y = y + s x: reads two arrays, writes one.
void AddScaled(const float* x, float* y, float s, int64_t n);

// y = a polynomial of degree 16 in x, by Horner's rule: 16 multiply-adds per element.
constexpr int kPolynomialFlops = 32;
void Polynomial(const float* x, float* y, int64_t n);

// Sums products of pairs of bfloat16 numbers (vdpbf16ps) in float32 in registers: 64 operations for each of the n / 32
// vectors of x; there must be at least kPairSums vectors. Returns false, and does nothing, if the CPU has no such
// instruction.
constexpr int64_t kPairSums = 16;
bool PairProducts(const uint16_t* x, float* y, int64_t n);

// y = exp(x) as generated kernels compute it: range reduction, a polynomial of degree 6, scaling by a power of two.
void Exp(const float* x, float* y, int64_t n);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CALIBRATE_LOOPS_H_
