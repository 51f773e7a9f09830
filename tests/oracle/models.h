// The models of the oracle: each one twice, with Tandem's layers and losses and with the formulas of reference_*.h.
#ifndef TANDEM_TESTS_ORACLE_MODELS_H_
#define TANDEM_TESTS_ORACLE_MODELS_H_

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "graph/graph_builder.h"
#include "tests/oracle/reference_layers.h"
#include "tests/oracle/tape.h"

namespace tandem::oracle {

struct Range {
  double low = -1, high = 1;  // numbers in [low, high)
  bool whole = false;         // whole numbers only
};

struct Model {
  std::string name;
  std::function<Tensor(GraphBuilder&)> loss;
  std::function<ref::Real(ref::Forward&)> reference;
  // Of inputs: by default numbers in [-1, 1), whole numbers in {0, 1, 2, 3} for integers, booleans.
  std::map<std::string, Range> ranges = {};
  // Ops that draw random numbers. Which numbers is Tandem's own choice, so they are taken from its forward graph.
  std::vector<std::string> randoms = {};
  // How much larger a gradient's rounding error may be than that of the plain sums of small models.
  double rounding = 1;
};
inline void PrintTo(const Model& model, std::ostream* os) { *os << model.name; }

// Dense, convolution, pooling, dropout, activations.
std::vector<Model> LayerModels();
// Layers that only exist as Keras' objects.
std::vector<Model> KerasLayerModels();
// Batch and layer normalisation, embeddings, attention, and models of many layers.
std::vector<Model> NormAndAttentionModels();
// Losses, weights, reductions, regularizers.
std::vector<Model> LossModels();
// Losses whose labels follow from variables.
std::vector<Model> LabelGradientModels();
// All of them.
const std::vector<Model>& Models();

// For models of layers: a dense layer "head" behind `x` and the squared error against the input "target".
Tensor Head(GraphBuilder& g, const Tensor& x);
ref::Real Head(const ref::Forward& f, const ref::Array& x);

}  // namespace tandem::oracle

#endif  // TANDEM_TESTS_ORACLE_MODELS_H_
