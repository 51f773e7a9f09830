#include "passes/translation/refusals.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "graph/ir/interfaces.h"
#include "passes/base/pass_util.h"

namespace tandem::translation {
namespace {

constexpr char kGradient[] =
    "it is a part of a gradient, which is not translated; leave what is computed from it out of the predictions";
constexpr char kUpdate[] = "it changes variables, which an exported model does not; build it in mode train only";
constexpr char kLater[] = "the compiler makes it after the graph that is exported; export the model again";
constexpr char kSurroundings[] =
    "td-lift-variables makes arguments and results of it before a graph is exported; export the model again";

bool HasBatch(mlir::Operation* op) {
  const auto is_batched = [](mlir::Type type) { return td::IsBatched(type); };
  return llvm::any_of(op->getOperandTypes(), is_batched) || llvm::any_of(op->getResultTypes(), is_batched);
}

}  // namespace

absl::Status HasNoForm(mlir::Operation* op, absl::string_view format, absl::string_view problem) {
  std::string file;
  int line = 0;
  const bool placed = LocationFileLine(op->getLoc(), &file, &line);
  return absl::UnimplementedError(absl::StrCat(placed ? absl::StrCat(file, ":", line, ": ") : "", "\"",
                                               LocationName(op->getLoc()), "\": ", op->getName().getStringRef().str(),
                                               " has no form in ", format, ": ", problem));
}

const char* WhyNotTranslated(const std::string& op) {
  static const auto* reasons = new std::map<std::string, const char*>{
      {"td.random_uniform",
       "it draws random numbers, which others would draw differently; give a layer like Dropout .training = mode == "
       "Mode::kTrain, or make the numbers a feature"},
      {"td.batch_moments",
       "it takes statistics of the batch; give BatchNormalization .training = mode == Mode::kTrain, so that "
       "predictions take the moving averages"},
      {"td.scatter_add",
       "it combines the rows of a batch, so that a prediction would depend on what else is in the batch; leave what is "
       "computed from it out of the predictions"},
      {"td.gelu_grad", kGradient},
      {"td.conv2d_filter_grad", kGradient},
      {"td.depthwise_conv2d_input_grad", kGradient},
      {"td.depthwise_conv2d_filter_grad", kGradient},
      {"td.max_pool_grad", kGradient},
      {"td.max_pool_argmax_grad", kGradient},
      {"td.avg_pool_grad", kGradient},
      {"td.attention_grad", kGradient},
      {"td.apply_sgd", kUpdate},
      {"td.apply_momentum", kUpdate},
      {"td.apply_adam", kUpdate},
      {"td.apply_rmsprop", kUpdate},
      {"td.apply_rmsprop_momentum", kUpdate},
      {"td.attention", kLater},
      {"td.max_pool_argmax", kLater},
      {"td.variable", kSurroundings},
      {"td.input", kSurroundings},
      {"td.scalar", kSurroundings},
      {"td.read", kSurroundings},
      {"td.assign", kSurroundings},
      {"td.check_finite", kSurroundings},
      {"td.output", kSurroundings},
  };
  const auto found = reasons->find(op);
  return found == reasons->end() ? nullptr : found->second;
}

absl::Status CheckRowsAreApart(mlir::Operation* op, absl::string_view format) {
  auto batched = mlir::dyn_cast<td::BatchOp>(op);
  if (!batched || !HasBatch(op) || batched.getBatchRule() == td::BatchRule::kPerExample) return absl::OkStatus();
  return HasNoForm(op, format,
                   "it combines the rows of a batch, so that a prediction would depend on what else is in the batch; "
                   "leave this output out of the predictions, or work along other axes");
}

}  // namespace tandem::translation
