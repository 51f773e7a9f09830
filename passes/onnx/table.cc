// The table of all td ops: the translator of each, or the reason why it has none.
#include <map>
#include <string>

#include "passes/onnx/translators.h"

namespace tandem::onnx {
namespace {

constexpr char kGradient[] =
    "it is a part of a gradient that ONNX has no op for; leave what is computed from it out of the predictions";
constexpr char kUpdate[] = "it changes variables, and an ONNX model has none; build it in mode train only";
constexpr char kLater[] = "the compiler makes it after the graph that is exported; export the model again";
constexpr char kSurroundings[] =
    "td-lift-variables makes arguments and results of it before a graph is exported; export the model again";

}  // namespace

const TranslatorTable& Translators() {
  static const auto* table = [] {
    auto* all = new TranslatorTable;
    AddElementwise(*all);
    AddShapes(*all);
    AddReductions(*all);
    AddProducts(*all);
    AddWindows(*all);
    AddNorms(*all);
    AddLookups(*all);
    return all;
  }();
  return *table;
}

const char* WhyNoForm(const std::string& op) {
  static const auto* reasons = new std::map<std::string, const char*>{
      {"td.random_uniform",
       "it draws random numbers, which no op of ONNX draws alike; give a layer like Dropout .training = mode == "
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

}  // namespace tandem::onnx
