"""estimator_test: a test of the Estimator with models that train."""

load("//tools/build:jumbo.bzl", "folder_test")

# Programs of their own: they forks, measures the process, or changes its environment or signals.
ALONE = [
    "config_test",
    "estimator_evaluate_test",
    "estimator_files_test",
    "eval_log_test",
    "export_test",
    "keep_best_test",
    "odd_steps_test",
    "resume_test",
    "signals_test",
]

def estimator_test(name):
    """NAME.cc becomes the test NAME."""
    (native.cc_test if name in ALONE else folder_test)(
        name = name,
        size = "medium",
        srcs = [name + ".cc"],
        deps = [
            ":continuous_eval",
            ":done_marker",
            ":early_stopping",
            ":estimator",
            ":eval_log",
            ":test_models",
            "//base:exit_code",
            "//base:fault_injecting_env",
            "//base:fingerprint",
            "//base:logging",
            "//base:philox",
            "//base:temporary_name",
            "//estimator/serving:export_dir",
            "//estimator/serving:model",
            "//frontends:summary",
            "//passes:compile",
            "@system//:gmock",
            "@system//:gtest_main",
        ],
    )
