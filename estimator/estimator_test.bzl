"""estimator_test: a test of the Estimator with models that train."""

load("//tools/build:jumbo.bzl", "folder_test")

# Programs of their own: they fork, measure the process, or change its environment or signals.
ALONE = [
    "estimator_evaluate_test",
    "estimator_files_test",
    "export_test",
    "keep_best_test",
    "odd_steps_test",
    "resume_test",
]

# The tests of this folder that train small models.
TESTS = [
    "accumulated_batches_test",
    "check_steps_test",
    "continuous_eval_test",
    "data_fingerprint_test",
    "devices_resume_test",
    "early_stopping_test",
    "eval_by_steps_test",
    "estimator_evaluate_test",
    "estimator_files_test",
    "estimator_model_test",
    "estimator_train_test",
    "estimator_variables_test",
    "evaluated_weights_test",
    "evaluation_check_test",
    "export_test",
    "exporter_test",
    "hook_state_test",
    "keep_best_test",
    "labels_test",
    "monitored_training_session_test",
    "moving_average_test",
    "no_updates_test",
    "odd_steps_test",
    "parts_of_batches_test",
    "predictor_test",
    "resume_test",
    "score_check_test",
    "seed_test",
    "several_evaluations_test",
    "step_scalars_test",
    "train_and_evaluate_test",
    "user_exceptions_test",
    "warnings_test",
]

def estimator_test(name):
    """NAME.cc becomes the test NAME."""
    (native.cc_test if name in ALONE else folder_test)(
        name = name,
        size = "medium",
        srcs = [name + ".cc"],
        deps = [
            ":continuous_eval",
            ":early_stopping",
            ":estimator",
            ":test_models",
            "//base:exit_code",
            "//base:fault_injecting_env",
            "//base:fingerprint",
            "//base:logging",
            "//base:philox",
            "//base:status_macros",
            "//base:temporary_name",
            "//estimator/checkpoint:done_marker",
            "//estimator/evaluation",
            "//estimator/record",
            "//estimator/serving:export_dir",
            "//estimator/serving:model",
            "//frontends:summary",
            "//passes:compile",
            "@system//:gmock",
            "@system//:gtest_main",
        ],
    )
