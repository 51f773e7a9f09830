// Predictions as the JSON of an answer.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_PREDICTIONS_JSON_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_PREDICTIONS_JSON_H_

#include <string>

#include "estimator/serving/server/predict_body.h"
#include "estimator/serving/server/prediction.h"

namespace tandem::serving {

// Returns {"predictions": [..]} for rows, {"outputs": ..} for columns; of one output the values alone, of several
// objects with their names. Each number is the shortest text that reads back as the same value of its type.
// Floating-point numbers have a "." or an exponent; those that are not finite are NaN, Infinity and -Infinity.
std::string PredictionsJson(const Prediction& prediction, BodyForm form);

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_PREDICTIONS_JSON_H_
