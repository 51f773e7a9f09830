// TensorBoard's event files, as tandem-plot reads them: the bytes as an event, and as a file.
#include "estimator/curves/event_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() {
  // Step 7 with the value 3 of "loss", as TensorFlow writes it; a tensor's scalar, as TensorFlow 2 does; a start.
  const std::string value("\x0a\x04loss\x15\x00\x00\x40\x40", 11);
  const std::string summary = std::string("\x0a") + static_cast<char>(value.size()) + value;
  const std::string tensor("\x0a\x04loss\x42\x0a\x08\x01\x12\x00\x2a\x04\x00\x00\x40\x40", 18);
  const std::string tensors = std::string("\x0a") + static_cast<char>(tensor.size()) + tensor;
  return {std::string("\x10\x07\x2a") + static_cast<char>(summary.size()) + summary,
          std::string("\x10\x07\x2a") + static_cast<char>(tensors.size()) + tensors,
          std::string("\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\x05\x3a\x02\x08\x01", 15)};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tandem::fuzz::MemoryFile file;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  tandem::PlotEvent event;
  if (tandem::ParsePlotEvent(bytes, &event)) {
    tandem::fuzz::NoteAccepted();
    for (const auto& [tag, value] : event.scalars) {
      tandem::fuzz::Require(tag.empty() || (tag.data() >= bytes.data() && tag.data() + tag.size() <= bytes.end()),
                            "a tag lies in the record");
    }
  }
  file.Set(bytes);
  tandem::ReadEventFile(tandem::Env::Default(), file.path(), [](const tandem::PlotEvent&) {}).IgnoreError();
  return 0;
}
