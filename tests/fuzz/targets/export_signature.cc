// signature.json of an exported model, with its checksum made right: by a stranger, not by damage.
#include "base/crc32c.h"
#include "estimator/checkpoint/file_checksum.h"
#include "estimator/serving/signature.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

constexpr char kSeal[] = "  \"signature_crc32c\"";

}  // namespace

std::vector<std::string> Seeds() {
  ModelSignature s{.global_step = 3, .target = "x86-64 avx2", .rows_per_step = 32};
  s.inputs = {{"image", DType::kFloat32, {kBatch, 28, 28, 1}}, {"id", DType::kInt64, {kBatch}}};
  s.outputs = {{"logits", DType::kFloat32, {kBatch, 10}}};
  s.scalars = {{"rate", 0.1}};
  s.metrics = {{"loss", 0.25}};
  s.files = {{kProgramName, {.size = 100, .crc32c = 7}}, {kWeightsName, {.size = 200, .crc32c = 9}}};
  std::string text = s.Text().value_or("");
  text.resize(text.find(kSeal));
  return {text};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tandem;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string sealed = absl::StrCat(text, fuzz::kSeal, ": \"", HexCrc32c(Crc32c(text)), "\"\n}\n");
  const auto signature = ParseSignature(sealed, "signature.json");
  (void)ParseSignature(text, "signature.json").ok();
  if (!signature.ok()) return 0;
  fuzz::NoteAccepted();
  // What was read is written so that it is read again.
  const auto written = signature->Text();
  if (written.ok()) {
    const auto again = ParseSignature(*written, "again");
    fuzz::Require(again.ok(), "a signature that was written can be read");
    fuzz::RequireEqual(*again->Text(), *written, "reading and writing a signature");
  }
  return 0;
}
