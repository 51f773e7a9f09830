// A serialised Example: alone and in a batch it has the same values, or errors.
#include "data/files/example.h"

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

// Values that are not packed, after a list of another kind.
std::string Unpacked() {
  using std::string_literals::operator""s;
  const std::string int64s = "\x08\x01\x08\xac\x02\x08"s + std::string(9, '\xff') + "\x01";
  const std::string floats = "\x0d\0\0\x80\x3f\x0d\0\0\0\xc0"s;
  const std::string a = Field(1, "a") + Field(2, Field(2, floats) + Field(3, int64s));
  const std::string f = Field(1, "f") + Field(2, Field(2, floats));
  const std::string w = Field(2, Field(3, int64s)) + Field(1, "w");
  return Field(1, Field(1, a) + Field(1, f) + Field(1, w));
}

const ExampleParser& Parser(bool variable) {
  using F = FeatureSpec;
  static const auto* fixed = new absl::StatusOr<ExampleParser>(ExampleParser::Create(
      {F::FixedLen("a", DType::kInt64, {3}, HostTensor::Scalar<int64_t>(7)),
       F::FixedLen("f", DType::kFloat32, {2}, HostTensor::Scalar(0.5f)),
       F::FixedLen("s", DType::kString, {}, HostTensor::FromStrings({}, std::vector<std::string>{"?"}))}));
  static const auto* varying = new absl::StatusOr<ExampleParser>(
      ExampleParser::Create({F::VarLen("a", DType::kInt64), F::VarLen("f", DType::kFloat32),
                             F::VarLen("s", DType::kString), F::VarLen("w", DType::kInt64)}));
  return **(variable ? varying : fixed);
}

std::string Text(const Element& e) {
  std::string text;
  for (const HostTensor& t : e.components) {
    for (int64_t i = 0; i < t.num_elements() && t.dtype() == DType::kString; ++i)
      text += std::string(t.string(i)) + ";";
    if (t.dtype() != DType::kString) text.append(static_cast<const char*>(t.raw()), t.byte_size());
  }
  return text;
}

}  // namespace

std::vector<std::string> Seeds() {
  ExampleBuilder builder;
  builder.Int64("a", {1, -2, 300}).Float("f", {1.0f, -2.0f}).Bytes("s", "hi").Int64("w", {1, 2, 3, 4, 5, 6});
  return {builder.Serialize(), Unpacked(), ExampleBuilder().Int64("a", {}).Bytes("s", {"a", "", "ccc"}).Serialize(), "",
          Field(1, Field(1, Field(1, "f")) + Field(1, Field(1, "s") + Field(2, "")))};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::Require;
  const absl::string_view record(reinterpret_cast<const char*>(data), size);
  const bool listed = tandem::ListFeatures(record).ok();
  for (const bool variable : {false, true}) {
    const tandem::ExampleParser& parser = tandem::fuzz::Parser(variable);
    tandem::Element one, batch;
    const absl::Status status = parser.ParseOne(record, &one);
    int64_t bad_row = -1;
    const absl::Status of_batch = parser.ParseBatch({record, record}, &batch, &bad_row);
    Require(status == of_batch, "an Example alone and in a batch give the same error");
    Require(status.ok() || bad_row == 0, "the first of two bad records is named");
    if (!status.ok()) continue;
    if (listed) tandem::fuzz::NoteAccepted();
    Require(tandem::CheckElement(parser.spec(), one).ok(), "the element is as its spec says");
    for (size_t c = 0; c < one.components.size(); ++c) {
      tandem::Element single{{one.components[c]}}, pair{{batch.components[c]}};
      const std::string text = tandem::fuzz::Text(single);
      tandem::fuzz::RequireEqual(text + text, tandem::fuzz::Text(pair), "a batch has the values of its Examples");
    }
  }
  return 0;
}
