/* Tandem for programs in C, and for languages that call C: predictions, checkpoints, curves of trainings, tools.
 *
 *   tandem_model* model = NULL;
 *   tandem_status* status = tandem_load("exports", NULL, &model);
 *   const int64_t shape[] = {1, 28, 28, 1};
 *   const tandem_tensor image = {"image", TANDEM_FLOAT32, 4, shape, pixels, sizeof pixels};
 *   tandem_tensors* outputs = NULL;
 *   if (status == NULL) status = tandem_predict(model, &image, 1, &outputs);
 *   tandem_tensor logits;
 *   if (status == NULL) status = tandem_tensors_find(outputs, "logits", &logits);
 *   if (status != NULL) fprintf(stderr, "%s\n", tandem_status_message(status));
 *   tandem_tensors_free(outputs);
 *   tandem_model_free(model);
 *   tandem_status_free(status);
 *
 * Errors: a function that can fail returns a tandem_status, which is NULL if all went well and else belongs to the
 * caller, who frees it. What a failed function would have returned by a pointer is left as it was. No function throws,
 * aborts, prints or ends the process for what its arguments or files are. A pointer that must not be NULL and is NULL
 * is an error (TANDEM_INVALID_ARGUMENT); functions that free accept NULL.
 *
 * Ownership: what a function makes belongs to the caller until the function with _free in its name is called. Texts,
 * shapes and data that are seen through a handle belong to it and live as long as it does. Arguments are only read, and
 * not needed after the call.
 *
 * Threads: functions may be called from any thread. Functions that take a const handle may be called for one handle by
 * several threads at the same time; so may tandem_predict and tandem_predict_into. Nobody may use a handle that is
 * being freed.
 *
 * Texts are UTF-8 and end with a zero byte, except that paths are the bytes of the file system. */
#ifndef TANDEM_ESTIMATOR_C_TANDEM_C_H_
#define TANDEM_ESTIMATOR_C_TANDEM_C_H_

#include <stddef.h>
#include <stdint.h>

#if defined(TANDEM_LIBRARY) /* as in base/api.h */
#define TANDEM_C_API __attribute__((visibility("protected")))
#elif defined(__GNUC__)
#define TANDEM_C_API __attribute__((visibility("default")))
#else
#define TANDEM_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ---- */

/* The version of this interface: functions and fields are added to it, none is changed or taken away. */
#define TANDEM_C_VERSION 1
/* Returns the TANDEM_C_VERSION that the library was built with. */
TANDEM_C_API int32_t tandem_c_version(void);

/* ---- Errors ---- */

typedef struct tandem_status tandem_status;

/* What kind of error it is: the codes of gRPC and Abseil. */
typedef enum tandem_code {
  TANDEM_OK = 0,
  TANDEM_CANCELLED = 1,
  TANDEM_UNKNOWN = 2,
  TANDEM_INVALID_ARGUMENT = 3,
  TANDEM_DEADLINE_EXCEEDED = 4,
  TANDEM_NOT_FOUND = 5,
  TANDEM_ALREADY_EXISTS = 6,
  TANDEM_PERMISSION_DENIED = 7,
  TANDEM_RESOURCE_EXHAUSTED = 8,
  TANDEM_FAILED_PRECONDITION = 9,
  TANDEM_ABORTED = 10,
  TANDEM_OUT_OF_RANGE = 11,
  TANDEM_UNIMPLEMENTED = 12,
  TANDEM_INTERNAL = 13,
  TANDEM_UNAVAILABLE = 14,
  TANDEM_DATA_LOSS = 15,
  TANDEM_UNAUTHENTICATED = 16
} tandem_code;

/* Returns the kind of the error; TANDEM_OK for NULL. */
TANDEM_C_API tandem_code tandem_status_code(const tandem_status* status);
/* Returns what is wrong, where, and what to do about it; "" for NULL. */
TANDEM_C_API const char* tandem_status_message(const tandem_status* status);
/* Returns the exit code with which a program should end for this error (docs/reference/exit_codes.md); 0 for NULL. */
TANDEM_C_API int32_t tandem_status_exit_code(const tandem_status* status);
TANDEM_C_API void tandem_status_free(tandem_status* status);

/* ---- Tensors ---- */

/* Types of elements. */
typedef enum tandem_dtype {
  TANDEM_FLOAT32 = 1,
  TANDEM_FLOAT64 = 2,
  TANDEM_INT32 = 3,
  TANDEM_INT64 = 4,
  TANDEM_UINT8 = 5,
  TANDEM_BOOL = 6 /* a byte, 0 or 1 */
} tandem_dtype;

/* Returns the bytes of one element; 0 for a number that is no tandem_dtype. */
TANDEM_C_API size_t tandem_dtype_size(int32_t dtype);
/* Returns "float32" and so on; "" for a number that is no tandem_dtype. */
TANDEM_C_API const char* tandem_dtype_name(int32_t dtype);

/* A tensor, or the description of one. Nothing of it is owned by this struct. */
typedef struct tandem_tensor {
  const char* name;
  int32_t dtype; /* a tandem_dtype; 0 for a type that only files have */
  int32_t rank;
  const int64_t* shape; /* sizes by dimension, outermost first, the batch for predictions; in descriptions -1 is any */
  const void* data;     /* row-major; NULL in descriptions */
  size_t bytes;         /* of the data; 0 in descriptions */
} tandem_tensor;

/* Tensors with their data, sorted by name. */
typedef struct tandem_tensors tandem_tensors;

/* Returns their number; 0 for NULL. */
TANDEM_C_API size_t tandem_tensors_size(const tandem_tensors* tensors);
/* Sets `*tensor` to number `index`. TANDEM_OUT_OF_RANGE for an index that is too large. */
TANDEM_C_API tandem_status* tandem_tensors_get(const tandem_tensors* tensors, size_t index, tandem_tensor* tensor);
/* Sets `*tensor` to the one with this name. TANDEM_NOT_FOUND, with the names that there are. */
TANDEM_C_API tandem_status* tandem_tensors_find(const tandem_tensors* tensors, const char* name, tandem_tensor* tensor);
TANDEM_C_API void tandem_tensors_free(tandem_tensors* tensors);

/* ---- Models ---- */

/* A trained model with its weights in memory. Calls of it run at the same time, as tandem_load_options.calls says. */
typedef struct tandem_model tandem_model;

/* Options of tandem_load. Set all of it to zero, then struct_size to sizeof(tandem_load_options), then what you want.
 */
typedef struct tandem_load_options {
  size_t struct_size;
  int32_t threads;     /* of all calls together; 0: as many as the machine has cores */
  int32_t calls;       /* that run at the same time, more of them wait; 0: as many as threads */
  int32_t raw_weights; /* of a checkpoint: not 0 to use weights as trained where there are moving averages of them */
} tandem_load_options;

/* Loads the model at `path`: an exported model, a directory of several of which the newest is taken, a checkpoint, or a
 * model_dir with its newest checkpoint (LoadModel in estimator/serving/model.h says what these need). `options` may be
 * NULL. `*model` depends on no file any more. Errors: TANDEM_NOT_FOUND if there is no model; TANDEM_DATA_LOSS for
 * damaged files; TANDEM_PERMISSION_DENIED if others may write the program, which is code; TANDEM_FAILED_PRECONDITION if
 * this machine cannot run it, or a checkpoint has no program; TANDEM_INVALID_ARGUMENT for options. */
TANDEM_C_API tandem_status* tandem_load(const char* path, const tandem_load_options* options, tandem_model** model);
/* All calls of the model must have returned. */
TANDEM_C_API void tandem_model_free(tandem_model* model);

/* Describe what the model takes and gives; the first size of each shape is the batch, -1. The numbers are 0 for NULL.
 * TANDEM_OUT_OF_RANGE for an index that is too large. */
TANDEM_C_API size_t tandem_model_num_inputs(const tandem_model* model);
TANDEM_C_API tandem_status* tandem_model_input(const tandem_model* model, size_t index, tandem_tensor* description);
TANDEM_C_API size_t tandem_model_num_outputs(const tandem_model* model);
TANDEM_C_API tandem_status* tandem_model_output(const tandem_model* model, size_t index, tandem_tensor* description);
/* Returns the number of steps that the weights were trained for; 0 for NULL. */
TANDEM_C_API int64_t tandem_model_global_step(const tandem_model* model);
/* Returns the exported model or the checkpoint that was loaded; "" for NULL. */
TANDEM_C_API const char* tandem_model_path(const tandem_model* model);
/* The metrics of the evaluation that the model was exported after, sorted by name. The number is 0 for NULL and where
 * there was no evaluation. `*name` belongs to the model. TANDEM_OUT_OF_RANGE for an index that is too large. */
TANDEM_C_API size_t tandem_model_num_metrics(const tandem_model* model);
TANDEM_C_API tandem_status* tandem_model_metric(const tandem_model* model, size_t index, const char** name,
                                                double* value);

/* Predicts for a batch of any number of rows. `inputs` has `num_inputs` tensors, [rows, ...] each, in any order, one
 * for each input of the model; `bytes` must be those of dtype and shape, and data may be anywhere in memory. The
 * outputs in
 * `*outputs` are [rows, ...] and have the same bits in every call. Errors: TANDEM_INVALID_ARGUMENT, with the name and
 * what is expected, for an input that is missing, unknown, there twice, or of another type or shape;
 * TANDEM_OUT_OF_RANGE for an integer that the model uses as an index and has no row for. */
TANDEM_C_API tandem_status* tandem_predict(tandem_model* model, const tandem_tensor* inputs, size_t num_inputs,
                                           tandem_tensors** outputs);

/* Memory of the caller for an output. */
typedef struct tandem_buffer {
  const char* name; /* of the output */
  int32_t dtype;    /* a tandem_dtype: that of the output */
  void* data;
  size_t bytes; /* exactly those of the output for the number of rows */
} tandem_buffer;

/* Predicts like tandem_predict, and writes the outputs that are named in `outputs` to the caller's memory. Nothing is
 * written after an error. TANDEM_INVALID_ARGUMENT also for an unknown output, and for a buffer of another type or size.
 */
TANDEM_C_API tandem_status* tandem_predict_into(tandem_model* model, const tandem_tensor* inputs, size_t num_inputs,
                                                const tandem_buffer* outputs, size_t num_outputs);

/* ---- Checkpoints ---- */

/* An open checkpoint. What was opened can be read even if it is replaced or deleted meanwhile. */
typedef struct tandem_checkpoint tandem_checkpoint;

/* Opens a checkpoint, the newest one of a model_dir, or a single .safetensors file. Directories are compared with their
 * checksums. Errors: TANDEM_NOT_FOUND, TANDEM_DATA_LOSS, those of reading. */
TANDEM_C_API tandem_status* tandem_checkpoint_open(const char* path, tandem_checkpoint** checkpoint);
TANDEM_C_API void tandem_checkpoint_free(tandem_checkpoint* checkpoint);
/* Returns the directory or file that was opened; "" for NULL. */
TANDEM_C_API const char* tandem_checkpoint_path(const tandem_checkpoint* checkpoint);
/* Returns the step of the checkpoint; -1 for a single file and for NULL. */
TANDEM_C_API int64_t tandem_checkpoint_global_step(const tandem_checkpoint* checkpoint);
/* Returns the number of tensors, variables first and then optimizer slots, both sorted by name; 0 for NULL. */
TANDEM_C_API size_t tandem_checkpoint_size(const tandem_checkpoint* checkpoint);
/* Describes tensor number `index`. `*is_slot` is set to 1 for a slot of an optimizer, to 0 for a variable; it may be
 * NULL. TANDEM_OUT_OF_RANGE for an index that is too large. */
TANDEM_C_API tandem_status* tandem_checkpoint_get(const tandem_checkpoint* checkpoint, size_t index,
                                                  tandem_tensor* description, int32_t* is_slot);
/* Reads a tensor: `*tensors` gets the one of this name. TANDEM_NOT_FOUND, with all names, for an unknown name;
 * TANDEM_UNIMPLEMENTED for a type of elements that only files have. */
TANDEM_C_API tandem_status* tandem_checkpoint_read(const tandem_checkpoint* checkpoint, const char* name,
                                                   tandem_tensors** tensors);

/* ---- Curves ---- */

/* What trainings and evaluations have recorded: numbers by step. */
typedef struct tandem_curves tandem_curves;

typedef struct tandem_curve {
  const char* run;  /* the model_dir's name; "" if there is only one */
  const char* part; /* "" for the training, "eval" or "eval_NAME" for evaluations */
  const char* tag;  /* "loss" */
  size_t size;
  const int64_t* steps; /* `size` of them, growing */
  const double* values; /* `size` of them; may be NaN or infinite */
} tandem_curve;

/* Reads event files and records of evaluations under `path`, a model_dir or a folder of model_dirs. Files that are
 * damaged are left out, and tandem_curves_damage says which. Errors: TANDEM_NOT_FOUND for a folder that does not exist
 * or has no records; TANDEM_DATA_LOSS if nothing of it can be read. */
TANDEM_C_API tandem_status* tandem_curves_read(const char* path, tandem_curves** curves);
TANDEM_C_API void tandem_curves_free(tandem_curves* curves);
/* Returns the number of curves; 0 for NULL. */
TANDEM_C_API size_t tandem_curves_size(const tandem_curves* curves);
/* Sets `*curve` to number `index`; they are sorted by run, part and tag. TANDEM_OUT_OF_RANGE for an index that is too
 * large. */
TANDEM_C_API tandem_status* tandem_curves_get(const tandem_curves* curves, size_t index, tandem_curve* curve);
/* Returns a line for each damaged file; "" if there is none, and for NULL. */
TANDEM_C_API const char* tandem_curves_damage(const tandem_curves* curves);

/* ---- Tools ---- */

/* Runs a tool such as "dump" with its arguments, without the tool's own name, and sets `*exit_code` to what the program
 * tandem-dump would end with. It writes to the process's standard output and error. One tool runs at a time: others
 * wait. TANDEM_NOT_FOUND for an unknown tool; TANDEM_UNIMPLEMENTED in a library without tools. */
TANDEM_C_API tandem_status* tandem_run_tool(const char* name, size_t num_arguments, const char* const* arguments,
                                            int32_t* exit_code);

#ifdef __cplusplus
}
#endif

#endif  // TANDEM_ESTIMATOR_C_TANDEM_C_H_
