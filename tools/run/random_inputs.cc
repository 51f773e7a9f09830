#include "tools/run/random_inputs.h"

#include "base/fingerprint.h"
#include "base/philox.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

template <typename T, typename F>
void Fill(HostTensor* tensor, uint64_t seed, uint64_t stream, F from_word) {
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    const uint64_t block = static_cast<uint64_t>(i) / 4;
    const PhiloxCounter words = Philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                                            static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)},
                                           {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
    tensor->data<T>()[i] = static_cast<T>(from_word(words[i % 4]));
  }
}

}  // namespace

HostTensor RandomInput(const format::Input& input, int64_t rows, uint64_t seed, int64_t step) {
  Shape shape = input.shape;
  shape[0] = rows;
  HostTensor tensor(input.dtype, shape);
  const uint64_t stream = Fingerprint64(input.name, static_cast<uint64_t>(step));
  const uint64_t integers = input.indices > 0 ? input.indices : 10;
  const auto digit = [&](uint32_t word) { return word % integers; };
  switch (tensor.dtype()) {
    case DType::kFloat32:
      Fill<float>(&tensor, seed, stream, UniformFloat);
      break;
    case DType::kFloat64:
      Fill<double>(&tensor, seed, stream, UniformFloat);
      break;
    case DType::kInt32:
      Fill<int32_t>(&tensor, seed, stream, digit);
      break;
    case DType::kInt64:
      Fill<int64_t>(&tensor, seed, stream, digit);
      break;
    case DType::kUInt8:
      Fill<uint8_t>(&tensor, seed, stream, digit);
      break;
    case DType::kBool:
      Fill<uint8_t>(&tensor, seed, stream, [](uint32_t word) { return word & 1; });
      break;
    case DType::kBFloat16:  // bfloat16 exists only inside a program, so no input has it
    case DType::kString:    // strings are never part of a compiled program
    case DType::kInvalid:
      break;
  }
  return tensor;
}

}  // namespace tandem
