#include "estimator/serving/server/rest_api.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/json_string.h"
#include "base/printable.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/steady_time.h"
#include "estimator/serving/server/predict_body.h"
#include "estimator/serving/server/predictions_json.h"
#include "nlohmann/json.hpp"

namespace tandem::serving {
namespace {

using Json = nlohmann::ordered_json;
using Kind = RestPath::Kind;

constexpr int kIndent = 1;

HttpResponse JsonResponse(const absl::StatusOr<std::string>& text) {
  return text.ok() ? HttpResponse{.body = *text} : HttpErrorOf(text.status());
}

HttpResponse MethodNotAllowed(const std::string& method, const std::string& allowed) {
  HttpResponse response =
      HttpError(405, absl::StrCat("the method is ", PrintableLine(method), "; this path takes ", allowed));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

// The name of the type in TensorFlow's types.proto.
std::string TensorFlowName(DType dtype) {
  if (dtype == DType::kFloat32) return "DT_FLOAT";
  if (dtype == DType::kFloat64) return "DT_DOUBLE";
  return absl::StrCat("DT_", absl::AsciiStrToUpper(Name(dtype)));
}

Json TensorsJson(const std::vector<TensorSignature>& tensors) {
  Json json = Json::object();
  for (const TensorSignature& tensor : tensors) {
    Json sizes = Json::array();
    for (const int64_t size : tensor.shape) sizes.push_back({{"size", absl::StrCat(size)}, {"name", ""}});
    json[tensor.name] = {{"dtype", TensorFlowName(tensor.dtype)},
                         {"tensor_shape", {{"dim", sizes}, {"unknown_rank", false}}},
                         {"name", tensor.name}};
  }
  return json;
}

// Converts a body into a request for a version, and adds it.
absl::Status AddTo(ServedVersion& version, const std::string& body, const CancelFlag& cancelled,
                   const std::function<void(absl::StatusOr<Prediction>, BodyForm)>& done) {
  TD_ASSIGN_OR_RETURN(PredictBody parsed, ParsePredictBody(body, version.servable().inputs()));
  PredictRequest request{.inputs = std::move(parsed.inputs), .rows = parsed.rows, .cancelled = cancelled};
  request.done = [done, form = parsed.form](absl::StatusOr<Prediction> result) { done(std::move(result), form); };
  return version.Add(&request);
}

}  // namespace

void RestApi::Handle(HttpRequest request, CancelFlag cancelled, HttpRespond respond) {
  const absl::StatusOr<RestPath> path = ParseRestPath(request.target);
  if (!path.ok()) return respond([error = path.status()] { return HttpErrorOf(error); });
  const std::string allowed = path->kind == Kind::kPredict ? "POST" : "GET";
  if (request.method != allowed) {
    return respond([method = request.method, allowed] { return MethodNotAllowed(method, allowed); });
  }
  if (path->kind == Kind::kPredict) return Predict(*path, request, std::move(cancelled), std::move(respond));
  respond([this, path = *path] { return Answer(path); });
}

HttpResponse RestApi::Answer(const RestPath& path) const {
  switch (path.kind) {
    case Kind::kLive:
      return HttpResponse{.content_type = "text/plain", .body = "ok\n"};
    case Kind::kReady:
      if (const absl::Status ready = models_->Ready(); !ready.ok()) return HttpErrorOf(ready);
      return HttpResponse{.content_type = "text/plain", .body = "ok\n"};
    case Kind::kMetrics:
      return HttpResponse{.content_type = "text/plain; version=0.0.4", .body = MetricsText()};
    case Kind::kModelStatus:
      return JsonResponse(ModelStatus(path));
    case Kind::kModelMetadata:
      return JsonResponse(ModelMetadata(path));
    case Kind::kPredict:
      break;  // has no answer at once
  }
  return HttpError(500, "no such request");
}

absl::StatusOr<std::string> RestApi::ModelStatus(const RestPath& path) const {
  TD_ASSIGN_OR_RETURN(const ServedModel* model, models_->Find(path.model));
  Json versions = Json::array();
  for (const VersionStatus& version : model->Versions()) {
    if (path.version.has_value() && version.number != *path.version) continue;
    versions.push_back({{"version", absl::StrCat(version.number)},
                        {"state", std::string(Name(version.state))},
                        {"status",
                         {{"error_code", absl::StatusCodeToString(version.error.code())},
                          {"error_message", Printable(version.error.message())}}}});
  }
  if (versions.empty()) {
    TD_RETURN_IF_ERROR(model->Find(path.version).status());
  }
  return JsonString(Json{{"model_version_status", versions}}, kIndent) + "\n";
}

absl::StatusOr<std::string> RestApi::ModelMetadata(const RestPath& path) const {
  TD_ASSIGN_OR_RETURN(const ServedModel* model, models_->Find(path.model));
  TD_ASSIGN_OR_RETURN(const std::shared_ptr<ServedVersion> version, model->Find(path.version));
  const Json signature = {{"inputs", TensorsJson(version->servable().inputs())},
                          {"outputs", TensorsJson(version->servable().outputs())},
                          {"method_name", "tensorflow/serving/predict"}};
  const Json metadata = {
      {"model_spec", {{"name", path.model}, {"signature_name", ""}, {"version", absl::StrCat(version->number())}}},
      {"metadata", {{"signature_def", {{"signature_def", {{"serving_default", signature}}}}}}}};
  return JsonString(metadata, kIndent) + "\n";
}

std::string RestApi::MetricsText() const {
  std::string text = metrics_->Text();
  absl::StrAppend(&text, "# HELP tandem_model_version Versions of models, by their state.\n",
                  "# TYPE tandem_model_version gauge\n");
  for (const auto& [name, model] : models_->models()) {
    for (const VersionStatus& version : model->Versions()) {
      absl::StrAppend(&text, "tandem_model_version{model=\"", name, "\",version=\"", version.number, "\",state=\"",
                      Name(version.state), "\"} 1\n");
    }
  }
  return text;
}

void RestApi::Predict(const RestPath& path, const HttpRequest& request, CancelFlag cancelled,
                      HttpRespond respond) const {
  const absl::Duration start = SteadyNow();
  const absl::StatusOr<const ServedModel*> model = models_->Find(path.model);
  if (!model.ok()) return respond([error = model.status()] { return HttpErrorOf(error); });
  ModelMetrics* const metrics = metrics_->ForModel(path.model);
  const auto done = [start, metrics, respond](absl::StatusOr<Prediction> result, BodyForm form) {
    metrics->ObserveRequest(Api::kRest, result.status(), SteadyNow() - start);
    respond([result = std::move(result), form] {
      return result.ok() ? HttpResponse{.body = PredictionsJson(*result, form)} : HttpErrorOf(result.status());
    });
  };
  if (!request.content_encoding.empty() && request.content_encoding != "identity") {
    metrics->ObserveRequest(Api::kRest, absl::InvalidArgumentError(""), SteadyNow() - start);
    return respond([encoding = request.content_encoding] {
      return HttpError(415, absl::StrCat("the body is encoded as ", PrintableLine(encoding), "; send it as it is"));
    });
  }
  const absl::Status added = CatchResourceErrors("a request for predictions", [&] {
    return (*model)->Use(path.version, [&](ServedVersion& version) -> absl::Status {
      return AddTo(version, request.body, cancelled, done);
    });
  });
  if (!added.ok()) done(added, BodyForm::kRows);
}

}  // namespace tandem::serving
