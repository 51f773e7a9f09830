// What the test of tandem_c.h does in C.
#ifndef TANDEM_ESTIMATOR_C_TESTING_C_PROGRAM_H_
#define TANDEM_ESTIMATOR_C_TESTING_C_PROGRAM_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Predicts `rows` points of two numbers with the model at `path` and writes one number for each to `y`: by
 * tandem_predict, and by tandem_predict_into, whose results must be equal. Returns 0, or the line of this program that
 * found a mistake. */
int PredictPoints(const char* path, const float* points, size_t rows, float* y);

/* Reads all tensors of the checkpoint at `path`. Returns 0, or the line that found a mistake. `*numbers` is set to how
 * many numbers they have. */
int ReadAllTensors(const char* path, size_t* numbers);

/* Calls every function in ways that are errors. Returns 0, or the line that found a mistake. */
int MakeMistakes(const char* path);

#ifdef __cplusplus
}
#endif

#endif  // TANDEM_ESTIMATOR_C_TESTING_C_PROGRAM_H_
