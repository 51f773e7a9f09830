// A small model that tests of tools train, and executables made of it.
#ifndef TANDEM_TOOLS_TESTING_TRAINED_MODEL_H_
#define TANDEM_TOOLS_TESTING_TRAINED_MODEL_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/dataset.h"
#include "estimator/estimator.h"
#include "runtime/executable/executable.h"

namespace tandem::tool_test {

// A convolution, pooling, dropout, a dense layer, and batch normalization where params["norm"] is 1.
EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params);
// Where the convolution is in its file: "trained_model.cc:12".
std::string ConvolutionPlace();

// Batches of 8 pictures without an end.
absl::StatusOr<Dataset> Images(const InputContext&);

// Trains two steps on `devices` and evaluates; the same model_dir for every call with the same arguments.
std::string ModelDir(const std::vector<std::string>& devices, bool norm = false);
// That of cpu:0 and cpu:1.
std::string TwoDevices();

// A copy of the train executable of TwoDevices with one bit changed.
std::string DamagedFile(size_t offset_from_end);
// That executable after `change`, with right checksums, in a file of this name.
std::string ChangedFile(const std::string& name,
                        const std::function<void(format::Index&, std::vector<SegmentData>&)>& change);

}  // namespace tandem::tool_test

#endif  // TANDEM_TOOLS_TESTING_TRAINED_MODEL_H_
