#include "passes/contraction/choice.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "passes/base/pass_util.h"
#include "passes/contraction/winograd_cost.h"

namespace tandem {
namespace {

constexpr llvm::StringLiteral kChoiceAttribute = "exec.contraction";
constexpr absl::string_view kTile = "winograd_f";

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (format::Algorithm algorithm : format::kAlgorithmValues) {
    if (algorithm != format::Algorithm::kPackPanels) names.push_back(exec::stringifyAlgorithm(algorithm).str());
  }
  for (int64_t tile = kMinWinogradTile; tile <= kMaxWinogradTile; ++tile) names.push_back(absl::StrCat(kTile, tile));
  return names;
}

}  // namespace

exec::ContractionAttr ChoiceOf(mlir::Operation* op) {
  return op->getAttrOfType<exec::ContractionAttr>(kChoiceAttribute);
}

void SetChoice(mlir::Operation* op, exec::ContractionAttr choice) { op->setAttr(kChoiceAttribute, choice); }

void RemoveChoice(mlir::Operation* op) { op->removeAttr(kChoiceAttribute); }

bool IsChosen(mlir::Operation* op, exec::Algorithm algorithm) {
  const exec::ContractionAttr choice = ChoiceOf(op);
  return choice && choice.getAlgorithm() == algorithm;
}

std::string ChoiceName(exec::ContractionAttr choice) {
  if (choice.getTile() > 0) return absl::StrCat(kTile, choice.getTile());
  return exec::stringifyAlgorithm(choice.getAlgorithm()).str();
}

bool MatchesName(exec::ContractionOverrideAttr wanted, absl::string_view op) {
  const std::string name = wanted.getName().str();
  if (name == op || name == "*") return true;
  absl::ConsumePrefix(&op, kGradientScope);
  return absl::ConsumePrefix(&op, name) && absl::StartsWith(op, "/");
}

Override OverrideOf(mlir::Operation* op, exec::CompileConfigAttr config) {
  Override found;
  if (!config.getChoices()) return found;
  const std::string name = LocationName(op->getLoc());
  for (auto wanted : config.getChoices().getAsRange<exec::ContractionOverrideAttr>()) {
    if (MatchesName(wanted, name)) found = {wanted.getContraction(), wanted.getName() == name};
  }
  return found;
}

absl::StatusOr<exec::ContractionOverrideAttr> ParseOverride(mlir::MLIRContext* context, absl::string_view text) {
  const size_t colon = text.rfind(':');
  absl::string_view word = colon == absl::string_view::npos ? "" : text.substr(colon + 1);
  int64_t tile = 0;
  absl::string_view digit = word;
  if (absl::ConsumePrefix(&digit, kTile) && absl::SimpleAtoi(digit, &tile) && tile >= kMinWinogradTile &&
      tile <= kMaxWinogradTile) {
    word = "winograd";
  } else {
    tile = 0;
  }
  const auto algorithm = exec::symbolizeAlgorithm(llvm::StringRef(word.data(), word.size()));
  if (!algorithm || *algorithm == exec::Algorithm::kPackPanels || colon == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("TANDEM_FLAGS: \"--choose=", text, "\" must have the form --choose=NAME:ALGORITHM, with the name ",
                     "of an op or a layer, or *, and one of these algorithms: ", absl::StrJoin(Names(), ", ")));
  }
  return exec::ContractionOverrideAttr::get(
      context, llvm::StringRef(text.data(), colon),
      exec::ContractionAttr::get(context, *algorithm, tile, /*block=*/0, /*forced=*/true));
}

}  // namespace tandem
