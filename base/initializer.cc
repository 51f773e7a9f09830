#include "base/initializer.h"

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/normal_quantile.h"
#include "base/philox.h"

namespace tandem {
namespace {

using Kind = Initializer::Kind;

template <typename T>
void Fill(T* out, int64_t n, const Initializer& init, absl::string_view name, uint64_t seed) {
  if (init.kind == Kind::kZeros || init.kind == Kind::kConstant) {
    T value = init.kind == Kind::kZeros ? T(0) : static_cast<T>(init.a);
    for (int64_t i = 0; i < n; ++i) out[i] = value;
    return;
  }
  const uint64_t hash = Fingerprint64(name);
  const PhiloxKey key = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  const double tail = init.kind == Kind::kTruncatedNormal ? NormalCdfAtMinusTwo() : 0;
  for (int64_t block = 0; block * 4 < n; ++block) {
    PhiloxCounter words = Philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                                      static_cast<uint32_t>(hash), static_cast<uint32_t>(hash >> 32)},
                                     key);
    for (int64_t i = block * 4; i < n && i < block * 4 + 4; ++i) {
      uint32_t word = words[i % 4];
      if (init.kind == Kind::kUniform) {
        float low = static_cast<float>(init.a), high = static_cast<float>(init.b);
        out[i] = static_cast<T>(low + (high - low) * UniformFloat(word));
      } else {
        double p = tail + (1 - 2 * tail) * ((word + 0.5) * 0x1.0p-32);
        out[i] = static_cast<T>(init.a + init.b * NormalQuantile(p));
      }
    }
  }
}

}  // namespace

absl::Status FillInitialValue(const Initializer& initializer, absl::string_view name, uint64_t seed, DType dtype,
                              int64_t count, void* out) {
  const int kind = static_cast<int>(initializer.kind);
  const bool random = kind >= static_cast<int>(Kind::kUniform);
  if (kind < 0 || kind >= Initializer::kKinds || (random && dtype != DType::kFloat32 && dtype != DType::kFloat64)) {
    return absl::InvalidArgumentError(absl::StrCat("type ", Name(dtype), " cannot have an initializer of kind ", kind));
  }
  switch (dtype) {
    case DType::kFloat32:
      Fill(static_cast<float*>(out), count, initializer, name, seed);
      break;
    case DType::kFloat64:
      Fill(static_cast<double*>(out), count, initializer, name, seed);
      break;
    case DType::kInt32:
      Fill(static_cast<int32_t*>(out), count, initializer, name, seed);
      break;
    case DType::kInt64:
      Fill(static_cast<int64_t*>(out), count, initializer, name, seed);
      break;
    case DType::kUInt8:
      Fill(static_cast<uint8_t*>(out), count, initializer, name, seed);
      break;
    case DType::kBool:
      Fill(static_cast<bool*>(out), count, initializer, name, seed);
      break;
    case DType::kBFloat16:  // occurs only inside programs, not as a variable's type
    case DType::kString:    // does not occur in programs
    case DType::kInvalid:
      return absl::InvalidArgumentError("the variable has no type");
  }
  return absl::OkStatus();
}

}  // namespace tandem
