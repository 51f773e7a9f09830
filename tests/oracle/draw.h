// Where a case starts: first values of variables and random inputs, the same for equal names.
#ifndef TANDEM_TESTS_ORACLE_DRAW_H_
#define TANDEM_TESTS_ORACLE_DRAW_H_

#include <string>

#include "base/host_tensor.h"
#include "graph/reference/reference.h"
#include "runtime/executable/executable.h"
#include "tests/oracle/models.h"
#include "tests/oracle/reference_layers.h"

namespace tandem::oracle {

// Scales and variances are positive; everything else is of both signs, biases too, so that no term of a formula is left
// out.
ref::Numbers FirstValue(const std::string& model, const std::string& variable, const Shape& shape);

// All inputs of the global batch within the model's ranges, different for every key.
TensorMap DrawInputs(const Executable& executable, const Model& model, int64_t rows, const std::string& key);

HostTensor ToTensor(DType dtype, const ref::Numbers& numbers);
ref::Numbers ToNumbers(const HostTensor& tensor);
ref::NumbersMap ToNumbers(const TensorMap& tensors);

}  // namespace tandem::oracle

#endif  // TANDEM_TESTS_ORACLE_DRAW_H_
