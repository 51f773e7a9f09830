// What the samples export with --export.
#ifndef TANDEM_SAMPLES_EXPORTERS_H_
#define TANDEM_SAMPLES_EXPORTERS_H_

#include "estimator/exporter.h"

namespace tandem {

// For the flag's help.
inline constexpr char kExportHelp[] =
    "Export the model with the best accuracy, and the one that training ends with, to MODEL_DIR/export.";

// Returns exporters of the best and of the final model, which take the components that `eval_input` gives. The model
// must have a metric "accuracy".
inline ExporterList ExportersOf(const InputFn& eval_input) {
  const ServingInput serving{.input_fn = eval_input};
  return {BestExporter("best", serving, {.metric = "accuracy", .direction = MetricDirection::kMax}),
          FinalExporter("final", serving)};
}

}  // namespace tandem

#endif  // TANDEM_SAMPLES_EXPORTERS_H_
