// A safetensors file: its header, and every tensor that the header lists.
#include "estimator/checkpoint/safetensors.h"
#include "base/host_tensor.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() {
  const TensorMap tensors = {{"a/kernel", HostTensor::FromVector({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})},
                             {"b", HostTensor::FromVector<int64_t>({}, {7})},
                             {"c", HostTensor::Zeros(DType::kBool, {0, 4})}};
  auto image = SerializeSafetensors(tensors, {{"format", "pt"}});
  std::string file;
  if (image.ok()) {
    for (absl::string_view piece : image->Pieces()) file.append(piece.data(), piece.size());
  }
  return {file};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tandem::fuzz::MemoryFile file;
  file.Set({reinterpret_cast<const char*>(data), size});
  if (tandem::ReadSafetensors(tandem::Env::Default(), file.path()).ok()) tandem::fuzz::NoteAccepted();
  return 0;
}
