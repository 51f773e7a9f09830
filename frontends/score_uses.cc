#include "frontends/score_uses.h"

#include "absl/strings/str_cat.h"

namespace tandem {
namespace {

thread_local ScoreUses* collector = nullptr;

}  // namespace

ScoreUses::ScoreUses() : outer_(collector) { collector = this; }
ScoreUses::~ScoreUses() { collector = outer_; }

void NoteScores(ScoreKind kind, absl::string_view op, const Tensor& scores, absl::string_view remedy,
                SourceLocation loc) {
  if (collector == nullptr || !scores.ok()) return;
  collector->uses_.push_back({.kind = kind,
                              .op = std::string(op),
                              .origin = absl::StrCat(loc.file, ":", loc.line),
                              .tensor = scores.name(),
                              .remedy = std::string(remedy)});
}

}  // namespace tandem
