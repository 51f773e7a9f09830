# The samples as programs of your own:
#
#   cmake -B build -DCMAKE_PREFIX_PATH=WHERE_TANDEM_IS && cmake --build build
cmake_minimum_required(VERSION 3.18)
project(tandem_samples CXX)
find_package(Tandem REQUIRED)
find_package(nlohmann_json REQUIRED)

# What several of them use.
add_library(samples STATIC fashion_input.cc loss_log.cc models.cc networks.cc picture_input.cc record_input.cc
            time_history.cc)
get_filename_component(above "${CMAKE_CURRENT_SOURCE_DIR}" DIRECTORY)  # for "samples/..."
target_include_directories(samples PUBLIC "${above}")
target_link_libraries(samples PUBLIC Tandem::tandem nlohmann_json::nlohmann_json)

foreach(sample classify_pictures fashion_mnist fine_tune horovod_mnist keras_tfrecord linear_estimator mnist_estimator
        multi_gpu_keras oct_vgg16)
  add_executable(${sample} ${sample}.cc)
  target_link_libraries(${sample} PRIVATE samples)
endforeach()
