// The text files of a checkpoint directory: a manifest, and the pointer file.
#include "estimator/checkpoint/manifest.h"
#include "estimator/checkpoint/pointer_file.h"
#include "tests/fuzz/fuzz_target.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() {
  Manifest manifest{.global_step = 12,
                    .files = {{"variables.safetensors", {1024, 0x12345678}}, {"state.json", {2, 3}}}};
  PointerFile pointer{.latest = "model.ckpt-20", .all = {"model.ckpt-10", "model.ckpt-20"}};
  return {manifest.Text(), pointer.Text()};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto manifest = tandem::ParseManifest(text, "manifest.json");
  const auto pointer = tandem::ParsePointerFile(text, "checkpoint");
  // What was read can be written.
  if (manifest.ok()) manifest->Text();
  if (pointer.ok()) pointer->Text();
  if (manifest.ok() || pointer.ok()) tandem::fuzz::NoteAccepted();
  return 0;
}
