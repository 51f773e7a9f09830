// What RunConfig.warm_start_from says: which variables begin with values of another training, and from where.
#ifndef TANDEM_ESTIMATOR_WARM_START_SETTINGS_H_
#define TANDEM_ESTIMATOR_WARM_START_SETTINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tandem {

// What becomes of a variable that the source has with another shape or type.
enum class ShapeMismatch {
  kError,        // an error that lists all of them
  kSkip,         // it keeps its initialiser
  kCopyOverlap,  // it takes the part that both have, from the first element of every dimension on, and keeps its
                 // initialiser elsewhere; another rank or type is an error
};

// For a variable with a row for each token, such as a table of embeddings, where the vocabulary has changed: rows are
// matched by their tokens. Rows of tokens that the old vocabulary lacks, and of new OOV buckets, keep the initialiser.
// A vocabulary is a file with a token a line, row i having the token of line i + 1. It has a line for each row but the
// OOV buckets, which are the last rows; what follows these lines is not looked at. A token twice, or too few lines, is
// an error (DataLoss, exit code 65) that names file and line.
struct VocabInfo {
  std::string new_vocab;  // of the model
  std::string old_vocab;  // of the source
  int64_t new_oov_buckets = 0;
  int64_t old_oov_buckets = 0;
  // The dimension that has the tokens: 0 of an embedding's table and of a bias, 1 of a dense kernel whose units are
  // tokens.
  int axis = 0;
};

// First values of variables from somewhere else. Used only while model_dir holds no checkpoint, so that a restart does
// not warm-start again. The log says what was taken, what was not and why, and what the source has besides.
struct WarmStartSettings {
  // A safetensors file, a checkpoint directory (".../model.ckpt-100"), or a model_dir (its latest checkpoint).
  std::string path;
  // A regular expression (ECMAScript) that a variable's whole name must match. It chooses among all variables, the
  // statistics of batch norms included (of which TensorFlow's ".*" takes none); names that the source does not have
  // keep their initialisers.
  std::string vars_to_warm_start = ".*";
  // Whether it chooses among slots of optimizers, too: Adam's moments and moving averages of weights. Otherwise they
  // begin anew, the averages from the values that the weights begin with. The step begins at 0, so that Adam would take
  // moments of a long training for those of its first steps.
  bool with_slots = false;
  // The source's names for variables of the model, where they differ: {{"encoder/kernel", "conv2d/kernel"}}. Slots
  // that are taken follow their variable. A name that the model or the source lacks is an error.
  std::map<std::string, std::string> var_name_to_prev_var_name = {};
  // The same by rules, for names that are not in the map: each (expression, replacement) is applied to what the ones
  // before made of the model's name, as std::regex_replace does: {{"^encoder/", "bert/encoder/"}}.
  std::vector<std::pair<std::string, std::string>> var_name_replacements = {};
  // By the model's name of the variable. Slots of a variable that are taken are remapped with it.
  std::map<std::string, VocabInfo> var_name_to_vocab_info = {};
  ShapeMismatch on_shape_mismatch = ShapeMismatch::kError;

  // What is wrong with it, whatever the model and the source are.
  std::vector<std::string> Problems() const;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WARM_START_SETTINGS_H_
