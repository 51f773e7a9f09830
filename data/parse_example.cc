// ParseExample: reads features out of records. Its tokens, from which elements are made, are those of the stage before
// it.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "data/cache_settings.h"
#include "data/files/example.h"
#include "data/files/sequence_example.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

class ParseExampleNode : public ElementNode {
 public:
  ParseExampleNode(NodePtr child, NodeInfo info, ExampleParser parser, int num_parallel_calls, SourceLocation location)
      : ElementNode(std::move(child), std::move(info), num_parallel_calls),
        parser_(std::move(parser)),
        location_(location) {}

  std::string Signature(bool batch_sizes) const override {
    return absl::StrCat(child_->Signature(batch_sizes), " | parse_example(", SpecString(info().spec), ")");
  }

  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    Element input;
    TD_RETURN_IF_ERROR(child_->Materialize(token, payload, &input));
    const HostTensor& records = input.components[0];
    int64_t bad_row = 0;
    const bool batched = info().batch_size > 0;
    absl::Status status = batched ? ParseRows(records, out, &bad_row) : parser_.ParseOne(records.string(), out);
    if (status.ok()) return status;
    return At(batched ? DescribeRow(token, bad_row) : Describe(token), status);
  }

  // With variable lengths a range of rows cannot be made alone, because rows are padded to the longest of the whole
  // batch.
  bool makes_ranges() const override { return !parser_.has_variable_length() && child_->makes_ranges(); }
  absl::Status MaterializeRange(const int64_t* token, const Payload* payload, int64_t first, int64_t count,
                                Element* out) const override {
    Element input;
    TD_RETURN_IF_ERROR(child_->MaterializeRange(token, payload, first, count, &input));
    int64_t bad_row = 0;
    const absl::Status status = ParseRows(input.components[0], out, &bad_row);
    return status.ok() ? status : At(DescribeRow(token, first + bad_row), status);
  }
  absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr* payloads, int64_t count,
                               SourceLocation location, Element* out) const override {
    // The quick way does not work for variable lengths, which must be compared before they are padded, nor for batches
    // that are stacked into larger batches.
    if (parser_.has_variable_length() || info().batch_size > 0) {
      return Node::MaterializeRows(tokens, payloads, count, location, out);
    }
    Element input;
    TD_RETURN_IF_ERROR(child_->MaterializeRows(tokens, payloads, count, location, &input));
    int64_t bad_row = 0;
    absl::Status status = ParseRows(input.components[0], out, &bad_row);
    return status.ok() ? status : At(Describe(tokens + bad_row * token_width()), status);
  }

 private:
  absl::Status ParseRows(const HostTensor& records, Element* out, int64_t* bad_row) const {
    std::vector<absl::string_view> views(records.num_elements());
    for (size_t i = 0; i < views.size(); ++i) views[i] = records.string(static_cast<int64_t>(i));
    return parser_.ParseBatch(views, out, bad_row);
  }
  absl::Status At(absl::string_view place, const absl::Status& status) const {
    return Annotate(status, absl::StrCat("ParseExample, ", place), location_);
  }

  const ExampleParser parser_;
  const SourceLocation location_;
};

// Returns "parse_example(key: default, ...)" for caches. Types, shapes and names are left out because the stage's
// signature has them.
std::string FeatureSettings(absl::string_view name, const std::vector<FeatureSpec>& features) {
  return absl::StrCat(name, "(",
                      absl::StrJoin(features, ", ",
                                    [](std::string* out, const FeatureSpec& f) {
                                      absl::StrAppend(out, f.key, f.variable_length ? " of variable length" : "", ": ",
                                                      ValueSetting(f.default_value));
                                    }),
                      ")");
}

}  // namespace

absl::StatusOr<NodePtr> MakeParseExample(NodePtr child, std::vector<FeatureSpec> features, ParseExampleOptions options,
                                         SourceLocation location) {
  NodeInfo info = child->info();
  const size_t rank = info.batch_size > 0 ? 1 : 0;
  if (info.spec.size() != 1 || info.spec[0].dtype != DType::kString || info.spec[0].shape.size() != rank) {
    return absl::InvalidArgumentError(absl::StrCat("the elements are { ", SpecString(info.spec),
                                                   " }; they must be records: one string, or a batch of them"));
  }
  TD_RETURN_IF_ERROR(CheckParallelCalls(options.num_parallel_calls));
  const std::string settings = FeatureSettings("parse_example", features);
  TD_ASSIGN_OR_RETURN(ExampleParser parser, ExampleParser::Create(std::move(features)));
  AddCacheSettings(settings, &info);
  info.spec = parser.spec();
  for (ComponentSpec& component : info.spec) {
    if (rank == 1) component.shape.insert(component.shape.begin(), kBatch);
  }
  return NodePtr(std::make_shared<ParseExampleNode>(std::move(child), std::move(info), std::move(parser),
                                                    options.num_parallel_calls, location));
}

absl::StatusOr<NodePtr> MakeParseSequenceExample(NodePtr child, std::vector<FeatureSpec> context,
                                                 std::vector<FeatureSpec> sequence, ParseExampleOptions options,
                                                 SourceLocation location) {
  const std::vector<ComponentSpec>& records = child->info().spec;
  if (records.size() != 1 || records[0].dtype != DType::kString || !records[0].shape.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the elements are { ", SpecString(records), " }; they must be single records; put Batch behind"));
  }
  const std::string settings =
      absl::StrCat(FeatureSettings("context", context), ", ", FeatureSettings("sequence", sequence));
  TD_ASSIGN_OR_RETURN(SequenceExampleParser parser,
                      SequenceExampleParser::Create(std::move(context), std::move(sequence)));
  const MapOptions of_map = {.num_parallel_calls = options.num_parallel_calls, .spec = parser.spec()};
  const auto parse = [parser = std::move(parser)](const Element& record) -> absl::StatusOr<Element> {
    Element out;
    TD_RETURN_IF_ERROR(parser.Parse(record.components[0].string(), &out));
    return out;
  };
  return MakeMap(std::move(child), parse, of_map, "ParseSequenceExample", "parse_sequence_example", location, settings);
}

}  // namespace tandem::data_internal
