// TensorSignature: describes one input or output of an exported model.
#ifndef TANDEM_ESTIMATOR_SERVING_TENSOR_SIGNATURE_H_
#define TANDEM_ESTIMATOR_SERVING_TENSOR_SIGNATURE_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "tandem/base/api.h"
#include "tandem/base/dtype.h"

namespace TANDEM_API tandem {

// A batched tensor.
struct TensorSignature {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;  // shape[0] is kBatch

  // Returns, for example, "float32[b,28,28,1]".
  std::string TypeString() const { return absl::StrCat(Name(dtype), ShapeString(shape)); }
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_TENSOR_SIGNATURE_H_
