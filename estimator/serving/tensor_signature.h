// TensorSignature: describes one input or output of an exported model.
#ifndef TANDEM_ESTIMATOR_SERVING_TENSOR_SIGNATURE_H_
#define TANDEM_ESTIMATOR_SERVING_TENSOR_SIGNATURE_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "base/dtype.h"

namespace tandem {

struct TensorSignature {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;  // shape[0] is kBatch

  std::string TypeString() const { return absl::StrCat(Name(dtype), ShapeString(shape)); }  // "float32[b,28,28,1]"
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_TENSOR_SIGNATURE_H_
