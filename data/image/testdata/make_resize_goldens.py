"""make_resize_goldens.py: writes resize.safetensors: pictures, and what tf.image.resize of TensorFlow 2.15 gives.

IN holds a picture, uint8 or float32; "IN METHOD HEIGHT WIDTH" the result of that method ("antialias": bilinear with
antialias=True). Needs TensorFlow 2.15 and NumPy; run it in this folder.
"""
import numpy as np
import tensorflow as tf

import safetensors_file

METHODS = {"bilinear": ("bilinear", False), "antialias": ("bilinear", True), "nearest": ("nearest", False),
           "area": ("area", False)}
PICTURES = {"u8_3": (np.uint8, (37, 29, 3)), "u8_1": (np.uint8, (31, 45, 1)), "u8_4": (np.uint8, (7, 5, 4)),
            "f32_3": (np.float32, (19, 23, 3)), "f32_2": (np.float32, (11, 13, 2)), "one_pixel": (np.uint8, (1, 1, 3)),
            "u8_row": (np.uint8, (1, 17, 3)), "f32_column": (np.float32, (17, 1, 1))}
# Down, up, mixed, odd, even, multiples, the same, and one pixel.
SIZES = {"u8_3": [(37, 29), (16, 16), (13, 11), (74, 58), (53, 41), (11, 61), (1, 1), (36, 28)],
         "u8_1": [(15, 22), (62, 20), (45, 31), (7, 7)], "u8_4": [(3, 3), (14, 10), (9, 4)],
         "f32_3": [(7, 9), (24, 24), (40, 10)], "f32_2": [(5, 5), (22, 27)], "one_pixel": [(1, 1), (4, 5)],
         "u8_row": [(1, 6), (3, 40)], "f32_column": [(6, 1), (40, 3)]}


def main():
    arrays, random = {}, np.random.RandomState(1)
    for name, (dtype, shape) in PICTURES.items():
        if dtype == np.uint8:
            image = random.randint(0, 256, shape).astype(np.uint8)
        else:
            image = random.uniform(-1, 1, shape).astype(np.float32)
        arrays[name] = image
        for height, width in SIZES[name]:
            for method, (tf_method, antialias) in METHODS.items():
                result = tf.image.resize(image, [height, width], tf_method, antialias=antialias).numpy()
                arrays["%s %s %d %d" % (name, method, height, width)] = result
    safetensors_file.write("resize.safetensors", arrays)


main()
