// FromGenerator: the source whose elements a function makes. A token, from which an element can be made again, is the
// position that the function was called with.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "data/made_element.h"
#include "data/serial_function.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

class GeneratorNode : public Node {
 public:
  GeneratorNode(NodeInfo info, Dataset::GeneratorFn fn, SourceLocation location)
      : Node(std::move(info)), fn_(std::move(fn)), location_(location) {}

  // Makes the element at *position and advances *position, or sets *end if there is none. After an error the function
  // may or may not have advanced *position; *end then says that no element follows.
  absl::Status Call(int64_t* position, Element* out, bool* end) const {
    const int64_t at = *position;
    absl::Status status = fn_(position, out, end);
    if (status.ok() && *end) return status;
    if (status.ok() && (*position == at || *position < 0)) {
      status = absl::InvalidArgumentError(
          absl::StrCat("the function left the position at ", *position, "; it must go on, and be >= 0"));
    }
    if (status.ok()) status = OrderByName(*names(), nullptr, out);
    if (status.ok()) status = CheckElement(info().spec, *out);
    if (status.ok()) return status;
    if (*position < 0) *position = at;
    return Annotate(status, absl::StrCat("FromGenerator, position ", at), location_);
  }

  std::unique_ptr<TokenIterator> MakeTokens() const override;
  bool ValidToken(const int64_t* token) const override { return *token >= 0; }
  std::string Describe(const int64_t* token) const override {
    return absl::StrCat("the element at position ", *token, " of the generator");
  }
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    if (payload != nullptr) return MadeElement::Get(*payload, out);
    int64_t position = *token;
    bool end = false;
    TD_RETURN_IF_ERROR(Call(&position, out, &end));
    if (!end) return absl::OkStatus();
    return Annotate(absl::DataLossError("the generator ends where it had an element before"),
                    absl::StrCat("FromGenerator, position ", *token), location_);
  }
  std::string Signature(bool) const override { return absl::StrCat("generator(", SpecString(info().spec), ")"); }
  std::string Fingerprint() const override { return ""; }

 private:
  const SerialFunction<Dataset::GeneratorFn> fn_;
  const SourceLocation location_;
};

class GeneratorIterator : public TokenIterator {
 public:
  explicit GeneratorIterator(const GeneratorNode& node) : node_(node) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    if (ended_) return false;
    Element element;
    bool end = false;
    *token = position_;
    absl::Status status = node_.Call(&position_, &element, &end);
    // After an error that does not advance the position the dataset ends, because the same error would repeat for ever.
    // An error together with *end counts as the last element.
    ended_ = end || position_ == *token;
    if (end && status.ok()) return false;
    if (payload != nullptr) *payload = std::make_shared<MadeElement>(std::move(element), std::move(status));
    return true;
  }
  void Restart() override {
    position_ = 0;
    ended_ = false;
  }
  void Save(StateWriter* writer) const override {
    writer->Write(position_);
    writer->Write(ended_);
  }
  bool Restore(StateReader* reader) override { return reader->Read(&position_, 0, INT64_MAX) && reader->Read(&ended_); }

 private:
  const GeneratorNode& node_;
  int64_t position_ = 0;
  bool ended_ = false;
};

std::unique_ptr<TokenIterator> GeneratorNode::MakeTokens() const { return std::make_unique<GeneratorIterator>(*this); }

}  // namespace

absl::StatusOr<NodePtr> MakeGenerator(Dataset::GeneratorFn fn, std::vector<ComponentSpec> spec,
                                      SourceLocation location) {
  if (!fn) return absl::InvalidArgumentError("the function is null");
  if (spec.empty()) return absl::InvalidArgumentError("the elements need at least one component");
  for (size_t i = 0; i < spec.size(); ++i) {
    if (spec[i].dtype == DType::kInvalid || spec[i].dtype == DType::kBFloat16) {
      return absl::InvalidArgumentError(
          absl::StrCat("component '", spec[i].name, "' is ", Name(spec[i].dtype), ", which no tensor has"));
    }
    for (size_t j = 0; j < i; ++j) {
      if (spec[j].name != spec[i].name) continue;
      return absl::InvalidArgumentError(absl::StrCat("two components have the name '", spec[i].name, "'"));
    }
  }
  NodeInfo info;
  info.spec = std::move(spec);
  info.cardinality = kUnknownCardinality;
  info.has_payloads = info.costly_order = true;
  return NodePtr(std::make_shared<GeneratorNode>(std::move(info), std::move(fn), location));
}

}  // namespace tandem::data_internal
