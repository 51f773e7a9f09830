// Losses whose labels follow from variables.
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "graph/ops.h"
#include "tests/oracle/cover.h"
#include "tests/oracle/models.h"
#include "tests/oracle/reference_losses.h"

namespace tandem::oracle {
namespace {

using ref::Array;
using ref::Forward;
using ref::Real;

// [b, 3]
Tensor Scores(GraphBuilder& g, const char* network) {
  return layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 4}), {.units = 3, .name = network});
}
Array Teacher(const Forward& f) { return ref::Dense(f, f.Input("x"), "teacher"); }
Array Student(const Forward& f) { return ref::Dense(f, f.Input("x"), "student"); }

Real CrossEntropy(const Array& labels, const Forward& f) {
  return ref::Reduce(ref::SoftmaxCrossEntropy(labels, Student(f)), {}, ref::Mean::kOverExamples);
}

}  // namespace

std::vector<Model> LabelGradientModels() {
  std::vector<Model> models;
  models.push_back({"categorical_cross_entropy_of_two_networks",
                    [](GraphBuilder& g) {
                      Tensor labels = Softmax(Scores(g, "teacher"));
                      return TD_COVER(losses::CategoricalCrossEntropy, labels, Softmax(Scores(g, "student")));
                    },
                    [](Forward& f) { return CrossEntropy(ref::Softmax(Teacher(f)), f); }});
  // Of one network: the entropy of what it predicts.
  models.push_back({"categorical_cross_entropy_of_itself",
                    [](GraphBuilder& g) {
                      Tensor scores = Scores(g, "student");
                      return TD_COVER(losses::CategoricalCrossEntropy, Softmax(scores), scores, {.from_logits = true});
                    },
                    [](Forward& f) { return CrossEntropy(ref::Softmax(Student(f)), f); }});
  return models;
}

}  // namespace tandem::oracle
