// A small model that tests of tools train, and its executables.
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

// A convolution, pooling, dropout, a dense layer, and batch normalization if params["norm"] is 1.
EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params);
// The source line of the convolution: "trained_model.cc:12".
std::string ConvolutionPlace();

// Returns an infinite dataset of batches of 8 pictures.
absl::StatusOr<Dataset> Images(const InputContext&);

// Trains two steps on `devices` and evaluates; returns the model_dir, which is the same for calls with the same
// arguments.
std::string ModelDir(const std::vector<std::string>& devices, bool norm = false);
// Returns the ModelDir of cpu:0 and cpu:1.
std::string TwoDevices();

// Returns a copy of the train executable of TwoDevices with one bit changed.
std::string DamagedFile(size_t offset_from_end);
// Returns a file with this name that contains that executable after `change`, with correct checksums.
std::string ChangedFile(const std::string& name,
                        const std::function<void(format::Index&, std::vector<SegmentData>&)>& change);

}  // namespace tandem::tool_test

#endif  // TANDEM_TOOLS_TESTING_TRAINED_MODEL_H_
