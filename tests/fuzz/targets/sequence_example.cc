// A serialised SequenceExample: what is read is as its spec says.
#include "data/files/sequence_example.h"

#include "data/files/wire.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

std::string Field(uint32_t number, absl::string_view bytes) {
  std::string out;
  wire::AppendBytes(number, bytes, &out);
  return out;
}

std::string List(absl::string_view key, const std::vector<std::string>& steps) {
  std::string list;
  for (const std::string& step : steps) list += Field(1, step);
  return Field(1, Field(1, key) + Field(2, list));
}

const SequenceExampleParser& Parser(bool variable) {
  using F = FeatureSpec;
  const auto create = [](bool vary) {
    const std::vector<FeatureSpec> context = {F::VarLen("c", DType::kString)};
    return SequenceExampleParser::Create(
        context, vary ? std::vector<FeatureSpec>{F::VarLen("i", DType::kInt64), F::VarLen("s", DType::kString)}
                      : std::vector<FeatureSpec>{F::FixedLen("i", DType::kInt64, {2}, HostTensor::Scalar<int64_t>(0)),
                                                 F::FixedLen("f", DType::kFloat32)});
  };
  static const auto* fixed = new absl::StatusOr<SequenceExampleParser>(create(false));
  static const auto* varying = new absl::StatusOr<SequenceExampleParser>(create(true));
  return **(variable ? varying : fixed);
}

}  // namespace

std::vector<std::string> Seeds() {
  using std::string_literals::operator""s;
  const std::string ints = Field(3, Field(1, "\x01\xac\x02")), one = Field(2, Field(1, "\0\0\x80\x3f"s));
  const std::string lists =
      List("i", {ints, ints, ""}) + List("f", {one, one}) + List("s", {Field(1, Field(1, "ab") + Field(1, ""))});
  return {ExampleBuilder().Bytes("c", {"x", "yz"}).Serialize() + Field(2, lists), Field(2, List("f", {}))};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const bool variable : {false, true}) {
    const tandem::SequenceExampleParser& parser = tandem::fuzz::Parser(variable);
    tandem::Element element;
    if (!parser.Parse({reinterpret_cast<const char*>(data), size}, &element).ok()) continue;
    tandem::fuzz::NoteAccepted();
    tandem::fuzz::Require(tandem::CheckElement(parser.spec(), element).ok(), "the element is as its spec says");
  }
  return 0;
}
