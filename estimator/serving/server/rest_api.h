// RestApi: answers requests of HTTP in the form of TensorFlow Serving's REST interface.
//
//   POST /v1/models/MODEL[/versions/N]:predict   predictions (predict_body.h)
//   GET  /v1/models/MODEL[/versions/N]           the state of its versions
//   GET  /v1/models/MODEL[/versions/N]/metadata  its inputs and outputs
//   GET  /healthz                                200 while the process answers
//   GET  /readyz                                 200 if every model has a version that serves, else 503
//   GET  /metrics                                Prometheus' text; also as /monitoring/prometheus/metrics
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_REST_API_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_REST_API_H_

#include <string>

#include "absl/status/statusor.h"
#include "estimator/serving/server/http_message.h"
#include "estimator/serving/server/metrics.h"
#include "estimator/serving/server/model_manager.h"
#include "estimator/serving/server/rest_path.h"

namespace tandem::serving {

class RestApi : public HttpHandler {
 public:
  // Both must live longer.
  RestApi(const ModelManager* models, Metrics* metrics) : models_(models), metrics_(metrics) {}

  void Handle(HttpRequest request, CancelFlag cancelled, HttpRespond respond) override;

 private:
  // Answers what takes no time.
  HttpResponse Answer(const RestPath& path) const;
  absl::StatusOr<std::string> ModelStatus(const RestPath& path) const;
  absl::StatusOr<std::string> ModelMetadata(const RestPath& path) const;
  std::string MetricsText() const;
  void Predict(const RestPath& path, const HttpRequest& request, CancelFlag cancelled, HttpRespond respond) const;

  const ModelManager* const models_;
  Metrics* const metrics_;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_REST_API_H_
