// Input of the image samples from TFRecord files, as tandem-records makes them of IDX files.
#ifndef TANDEM_SAMPLES_RECORD_INPUT_H_
#define TANDEM_SAMPLES_RECORD_INPUT_H_

#include <string>

#include "estimator/model/estimator_spec.h"
#include "samples/fashion_input.h"

namespace tandem {

// Batches of the components of FashionInput, scaled, out of the files that `pattern` matches, which are compressed with
// gzip. Some files are read in turn; of one file the order is that of its records, and with the same options the
// batches are those that TrainInputFn makes of the IDX files.
InputFn RecordInputFn(std::string pattern, bool one_hot, const TrainInputOptions& options);

}  // namespace tandem

#endif  // TANDEM_SAMPLES_RECORD_INPUT_H_
