#include "data/files/sequence_example.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "data/files/example_values.h"
#include "data/files/wire.h"

namespace tandem {
namespace {

using example_internal::CheckFeature;
using example_internal::ForEachBytes;
using example_internal::KeyError;
using example_internal::Malformed;
using example_internal::RecordError;

// Field numbers, from tensorflow/core/example/example.proto and feature.proto.
// Field of the message SequenceExample, whose field 1 is the Features of an Example.
constexpr uint32_t kFeatureLists = 2;
constexpr uint32_t kEntry = 1;            // fields of the message FeatureLists
constexpr uint32_t kKey = 1, kValue = 2;  // fields of an entry of its map
constexpr uint32_t kStep = 1;             // fields of the message FeatureList

// Finds the serialised FeatureList of each feature, in the order of `features`; it is null if the key is absent. If a
// key occurs several times, the last entry counts.
absl::Status FindLists(absl::string_view record, const std::vector<FeatureSpec>& features,
                       std::vector<absl::string_view>* found) {
  found->assign(features.size(), absl::string_view());
  int64_t position = 0, inner = 0, in_entry = 0;
  const auto entry = [&](absl::string_view bytes) {
    absl::string_view key, list("");
    const auto set = [](absl::string_view* to) {
      return [to](absl::string_view value) {
        *to = value;
        return true;
      };
    };
    if (!ForEachBytes(bytes, kKey, &in_entry, set(&key)) || !ForEachBytes(bytes, kValue, &in_entry, set(&list))) {
      return false;
    }
    for (size_t i = 0; i < features.size(); ++i) {
      if (features[i].key == key) (*found)[i] = list;
    }
    return true;
  };
  const auto lists = [&](absl::string_view bytes) { return ForEachBytes(bytes, kEntry, &inner, entry); };
  if (!ForEachBytes(record, kFeatureLists, &position, lists)) return Malformed("a list of features", position + inner);
  return absl::OkStatus();
}

absl::StatusOr<HostTensor> ReadSteps(const FeatureSpec& spec, absl::string_view list) {
  if (list.data() == nullptr && !spec.variable_length && spec.default_value.empty()) {
    return KeyError(spec, "has no list of steps and no default");
  }
  std::vector<absl::string_view> steps;
  int64_t position = 0, bad_step = 0;
  const auto step = [&](absl::string_view bytes) {
    steps.push_back(bytes);
    return true;
  };
  if (!ForEachBytes(list, kStep, &position, step)) return RecordError(spec, "has a malformed list of steps");
  absl::StatusOr<HostTensor> read =
      spec.variable_length
          ? example_internal::ReadVariable(spec, steps, /*batched=*/true, &bad_step)
          : example_internal::ReadFixed(
                spec, steps, example_internal::WithRows(static_cast<int64_t>(steps.size()), spec.shape), &bad_step);
  if (!read.ok()) return Annotate(read.status(), absl::StrCat("step ", bad_step, ": "));
  return read;
}

}  // namespace

absl::StatusOr<SequenceExampleParser> SequenceExampleParser::Create(std::vector<FeatureSpec> context,
                                                                    std::vector<FeatureSpec> sequence) {
  if (context.empty() && sequence.empty()) {
    return absl::InvalidArgumentError("there is no feature to read; give at least one");
  }
  SequenceExampleParser parser;
  if (!context.empty()) {
    TD_ASSIGN_OR_RETURN(ExampleParser of_context, ExampleParser::Create(std::move(context)));
    parser.spec_ = of_context.spec();
    parser.context_.push_back(std::move(of_context));
  }
  for (size_t i = 0; i < sequence.size(); ++i) {
    FeatureSpec& f = sequence[i];
    TD_RETURN_IF_ERROR(CheckFeature(f));
    if (f.name.empty()) f.name = f.key;
    const auto same_key = [&f](const FeatureSpec& other) { return other.key == f.key; };
    if (std::any_of(sequence.begin(), sequence.begin() + i, same_key)) return KeyError(f, "is asked for twice");
    for (const ComponentSpec& other : parser.spec_) {
      if (other.name == f.name) return KeyError(f, absl::StrCat("gives a second component '", f.name, "'"));
    }
    parser.spec_.push_back(
        {f.name, f.dtype, f.variable_length ? Shape{-1, -1} : example_internal::WithRows(-1, f.shape)});
  }
  parser.sequence_ = std::move(sequence);
  return parser;
}

absl::Status SequenceExampleParser::Parse(absl::string_view record, Element* out) const {
  if (out == nullptr) return absl::InvalidArgumentError("SequenceExampleParser::Parse: a pointer is null");
  out->components.clear();
  // The context of a SequenceExample has the same field number as the features of an Example, so that ExampleParser can
  // read it; it skips the field of the lists.
  if (!context_.empty()) TD_RETURN_IF_ERROR(context_[0].ParseOne(record, out));
  std::vector<absl::string_view> found;
  TD_RETURN_IF_ERROR(FindLists(record, sequence_, &found));
  for (size_t i = 0; i < sequence_.size(); ++i) {
    TD_ASSIGN_OR_RETURN(HostTensor steps, ReadSteps(sequence_[i], found[i]));
    out->components.push_back(std::move(steps));
  }
  return absl::OkStatus();
}

}  // namespace tandem
