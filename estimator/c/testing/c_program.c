#include "estimator/c/testing/c_program.h"

#include <stdio.h>
#include <string.h>

#include "estimator/c/tandem_c.h"

/* Returns the line of the caller unless `condition` holds. */
#define CHECK(condition) \
  if (!(condition)) return __LINE__

/* Frees the status and says whether it was OK; prints it if not. */
static int Ok(tandem_status* status) {
  const int ok = status == NULL;
  if (!ok) fprintf(stderr, "error %d: %s\n", (int)tandem_status_code(status), tandem_status_message(status));
  tandem_status_free(status);
  return ok;
}

/* Frees the status and says whether it was this error, with a message and an exit code. */
static int Fails(tandem_status* status, tandem_code code) {
  const int fails = status != NULL && tandem_status_code(status) == code && tandem_status_exit_code(status) > 0 &&
                    strlen(tandem_status_message(status)) > 0;
  if (!fails) fprintf(stderr, "error %d: %s\n", (int)tandem_status_code(status), tandem_status_message(status));
  tandem_status_free(status);
  return fails;
}

static int Describes(const tandem_model* model) {
  tandem_tensor tensor;
  CHECK(tandem_model_num_inputs(model) == 1 && tandem_model_num_outputs(model) == 1);
  CHECK(Ok(tandem_model_input(model, 0, &tensor)));
  CHECK(strcmp(tensor.name, "x") == 0 && tensor.dtype == TANDEM_FLOAT32 && tensor.rank == 2);
  CHECK(tensor.shape[0] == -1 && tensor.shape[1] == 2 && tensor.data == NULL && tensor.bytes == 0);
  CHECK(Ok(tandem_model_output(model, 0, &tensor)));
  CHECK(strcmp(tensor.name, "y") == 0 && tensor.rank == 2 && tensor.shape[1] == 1);
  CHECK(strlen(tandem_model_path(model)) > 0 && tandem_model_global_step(model) > 0);
  return 0;
}

int PredictPoints(const char* path, const float* points, size_t rows, float* y) {
  tandem_load_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.threads = 2;
  tandem_model* model = NULL;
  CHECK(Ok(tandem_load(path, &options, &model)));
  const int described = Describes(model);
  CHECK(described == 0);

  const int64_t shape[2] = {(int64_t)rows, 2};
  const tandem_tensor x = {"x", TANDEM_FLOAT32, 2, shape, points, rows * 2 * sizeof(float)};
  tandem_tensors* outputs = NULL;
  CHECK(Ok(tandem_predict(model, &x, 1, &outputs)));
  CHECK(tandem_tensors_size(outputs) == 1);
  tandem_tensor found, first;
  CHECK(Ok(tandem_tensors_find(outputs, "y", &found)));
  CHECK(Ok(tandem_tensors_get(outputs, 0, &first)));
  CHECK(first.data == found.data && found.dtype == TANDEM_FLOAT32 && found.bytes == rows * sizeof(float));
  CHECK(found.rank == 2 && found.shape[0] == (int64_t)rows && found.shape[1] == 1);

  const tandem_buffer buffer = {"y", TANDEM_FLOAT32, y, rows * sizeof(float)};
  CHECK(Ok(tandem_predict_into(model, &x, 1, &buffer, 1)));
  CHECK(rows == 0 || memcmp(y, found.data, found.bytes) == 0);
  tandem_tensors_free(outputs);
  tandem_model_free(model);
  return 0;
}

int ReadAllTensors(const char* path, size_t* numbers) {
  tandem_checkpoint* checkpoint = NULL;
  CHECK(Ok(tandem_checkpoint_open(path, &checkpoint)));
  CHECK(tandem_checkpoint_global_step(checkpoint) > 0 && strlen(tandem_checkpoint_path(checkpoint)) > 0);
  *numbers = 0;
  for (size_t i = 0; i < tandem_checkpoint_size(checkpoint); ++i) {
    tandem_tensor description, value;
    int32_t is_slot = -1;
    tandem_tensors* read = NULL;
    CHECK(Ok(tandem_checkpoint_get(checkpoint, i, &description, &is_slot)));
    CHECK(is_slot == 0 || is_slot == 1);
    CHECK(Ok(tandem_checkpoint_read(checkpoint, description.name, &read)));
    CHECK(Ok(tandem_tensors_find(read, description.name, &value)));
    CHECK(value.dtype == description.dtype && value.rank == description.rank);
    *numbers += value.bytes / tandem_dtype_size(value.dtype);
    tandem_tensors_free(read);
  }
  tandem_checkpoint_free(checkpoint);
  return 0;
}

static int MistakesOfModels(tandem_model* model) {
  const int64_t shape[2] = {1, 2}, large[2] = {INT64_MAX, INT64_MAX};
  const float point[2] = {1, 2};
  float y = 7;
  tandem_tensors* outputs = NULL;
  tandem_tensor x = {"x", TANDEM_FLOAT32, 2, shape, point, sizeof point};
  const tandem_tensor twice[2] = {x, x};
  CHECK(Fails(tandem_predict(NULL, &x, 1, &outputs), TANDEM_INVALID_ARGUMENT));
  CHECK(Fails(tandem_predict(model, NULL, 1, &outputs), TANDEM_INVALID_ARGUMENT));
  CHECK(Fails(tandem_predict(model, &x, 1, NULL), TANDEM_INVALID_ARGUMENT));
  CHECK(Fails(tandem_predict(model, &x, 0, &outputs), TANDEM_INVALID_ARGUMENT));
  CHECK(Fails(tandem_predict(model, twice, 2, &outputs), TANDEM_INVALID_ARGUMENT));
  tandem_tensor wrong = x;
  wrong.name = "z";
  CHECK(Fails(tandem_predict(model, &wrong, 1, &outputs), TANDEM_INVALID_ARGUMENT));
  wrong = x;
  wrong.name = NULL;
  CHECK(Fails(tandem_predict(model, &wrong, 1, &outputs), TANDEM_INVALID_ARGUMENT));
  wrong = x;
  wrong.dtype = 99;
  CHECK(Fails(tandem_predict(model, &wrong, 1, &outputs), TANDEM_INVALID_ARGUMENT));
  wrong = x;
  wrong.rank = -1;
  CHECK(Fails(tandem_predict(model, &wrong, 1, &outputs), TANDEM_INVALID_ARGUMENT));
  wrong = x;
  wrong.shape = large;
  CHECK(Fails(tandem_predict(model, &wrong, 1, &outputs), TANDEM_INVALID_ARGUMENT));
  wrong = x;
  wrong.bytes = 4;
  CHECK(Fails(tandem_predict(model, &wrong, 1, &outputs), TANDEM_INVALID_ARGUMENT));
  wrong = x;
  wrong.data = NULL;
  CHECK(Fails(tandem_predict(model, &wrong, 1, &outputs), TANDEM_INVALID_ARGUMENT));
  CHECK(outputs == NULL);

  tandem_buffer buffer = {"y", TANDEM_FLOAT32, &y, 2 * sizeof y};
  CHECK(Fails(tandem_predict_into(model, &x, 1, &buffer, 1), TANDEM_INVALID_ARGUMENT));
  buffer.bytes = sizeof y;
  buffer.dtype = TANDEM_INT32;
  CHECK(Fails(tandem_predict_into(model, &x, 1, &buffer, 1), TANDEM_INVALID_ARGUMENT));
  buffer.dtype = TANDEM_FLOAT32;
  buffer.name = "x";
  CHECK(Fails(tandem_predict_into(model, &x, 1, &buffer, 1), TANDEM_INVALID_ARGUMENT));
  CHECK(y == 7);

  tandem_tensor description;
  const char* name = NULL;
  double value = 0;
  CHECK(Fails(tandem_model_input(model, 1, &description), TANDEM_OUT_OF_RANGE));
  CHECK(Fails(tandem_model_output(model, 1, &description), TANDEM_OUT_OF_RANGE));
  CHECK(Fails(tandem_model_input(model, 0, NULL), TANDEM_INVALID_ARGUMENT));
  CHECK(Fails(tandem_model_metric(model, 99, &name, &value), TANDEM_OUT_OF_RANGE));
  return 0;
}

int MakeMistakes(const char* path) {
  tandem_model* model = NULL;
  tandem_checkpoint* checkpoint = NULL;
  tandem_curves* curves = NULL;
  tandem_load_options options;
  int32_t exit_code = 0;
  memset(&options, 0, sizeof options);
  CHECK(Fails(tandem_load(NULL, NULL, &model), TANDEM_INVALID_ARGUMENT));
  CHECK(Fails(tandem_load(path, NULL, NULL), TANDEM_INVALID_ARGUMENT));
  CHECK(Fails(tandem_load(path, &options, &model), TANDEM_INVALID_ARGUMENT));
  options.struct_size = sizeof options;
  options.threads = -1;
  CHECK(Fails(tandem_load(path, &options, &model), TANDEM_INVALID_ARGUMENT));
  CHECK(Fails(tandem_load("/no/such/path", NULL, &model), TANDEM_NOT_FOUND));
  CHECK(Fails(tandem_checkpoint_open("/no/such/path", &checkpoint), TANDEM_NOT_FOUND));
  CHECK(Fails(tandem_curves_read("/no/such/path", &curves), TANDEM_NOT_FOUND));
  CHECK(Fails(tandem_run_tool("dump", 0, NULL, &exit_code), TANDEM_UNIMPLEMENTED));
  CHECK(model == NULL && checkpoint == NULL && curves == NULL);

  CHECK(tandem_status_code(NULL) == TANDEM_OK && tandem_status_exit_code(NULL) == 0);
  CHECK(strcmp(tandem_status_message(NULL), "") == 0);
  CHECK(tandem_dtype_size(TANDEM_INT64) == 8 && tandem_dtype_size(0) == 0);
  CHECK(strcmp(tandem_dtype_name(TANDEM_BOOL), "bool") == 0 && strcmp(tandem_dtype_name(-1), "") == 0);
  CHECK(tandem_c_version() == TANDEM_C_VERSION);
  CHECK(tandem_tensors_size(NULL) == 0 && tandem_curves_size(NULL) == 0 && tandem_checkpoint_size(NULL) == 0);
  tandem_status_free(NULL);
  tandem_tensors_free(NULL);
  tandem_model_free(NULL);
  tandem_checkpoint_free(NULL);
  tandem_curves_free(NULL);

  CHECK(Ok(tandem_load(path, NULL, &model)));
  const int line = MistakesOfModels(model);
  tandem_model_free(model);
  return line;
}
