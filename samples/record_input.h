// Input of the image samples from TFRecord files, which tandem-records makes of IDX files.
#ifndef TANDEM_SAMPLES_RECORD_INPUT_H_
#define TANDEM_SAMPLES_RECORD_INPUT_H_

#include <string>

#include "samples/fashion_input.h"
#include "tandem/estimator/model/estimator_spec.h"

namespace tandem {

// Returns an input_fn of the gzip-compressed TFRecord files that `pattern` matches: scaled batches with the components
// of FashionInput. Several files are read in turn. With one file the order is that of its records, so that with the
// same options the batches are those that TrainInputFn makes of the IDX files.
InputFn RecordInputFn(std::string pattern, bool one_hot, const TrainInputOptions& options);

}  // namespace tandem

#endif  // TANDEM_SAMPLES_RECORD_INPUT_H_
