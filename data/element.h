// What a dataset yields, and how it is described.
#ifndef TANDEM_DATA_ELEMENT_H_
#define TANDEM_DATA_ELEMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/dtype.h"
#include "base/host_tensor.h"

namespace tandem {

// One element: a tensor for each component, in the order of the dataset's spec. The tensors may share buffers with
// other holders and must not be written.
struct Element {
  // The rows of a batch, made here or not; -1 where there are none to count.
  int64_t rows() const;

  std::vector<HostTensor> components;
  // Of a batch that is not made here (Iterator::MakeOnly), which has no components: its rows. Else -1.
  int64_t rows_elsewhere = -1;
};

// The static description of one component. A size of -1 is known only at run time; in dimension 0 of a batched
// component it is kBatch, the number of examples.
struct ComponentSpec {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;
};

// "image:float32[b,28,28,1], label:int32[b]"
std::string SpecString(const std::vector<ComponentSpec>& spec);

// InvalidArgument, with component, expected and actual type and shape, unless `element` fits `spec`.
absl::Status CheckElement(const std::vector<ComponentSpec>& spec, const Element& element);

}  // namespace tandem

#endif  // TANDEM_DATA_ELEMENT_H_
