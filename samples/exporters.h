// The exporters that the samples use with the flag --export.
#ifndef TANDEM_SAMPLES_EXPORTERS_H_
#define TANDEM_SAMPLES_EXPORTERS_H_

#include "tandem/estimator/exporter.h"

namespace tandem {

// The help text of the flag --export.
inline constexpr char kExportHelp[] =
    "Export the model with the best accuracy, and the one that training ends with, to MODEL_DIR/export.";

// Returns exporters of the best model (by the metric "accuracy", which the model must have) and of the final model. An
// exported model takes the components of the dataset of `eval_input` as its inputs.
inline ExporterList ExportersOf(const InputFn& eval_input) {
  const ServingInput serving{.input_fn = eval_input};
  return {BestExporter("best", serving, {.metric = "accuracy", .direction = MetricDirection::kMax}),
          FinalExporter("final", serving)};
}

}  // namespace tandem

#endif  // TANDEM_SAMPLES_EXPORTERS_H_
