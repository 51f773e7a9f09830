"""make_transform_goldens.py: writes transform.safetensors: pictures, and what TensorFlow 2.15 makes of them.

IN holds a picture, uint8 or float32; "IN FUNCTION ARGUMENTS" the result of tf.image's function of that meaning. Needs
TensorFlow 2.15 and NumPy; run it in this folder.
"""
import math

import numpy as np
import tensorflow as tf

import safetensors_file


def rotate(image, radians, mode):
    """tfa.image.rotate's transform, by TensorFlow's own kernel."""
    height, width = image.shape[:2]
    c, s, h, w = (np.float32(v) for v in (math.cos(radians), math.sin(radians), height - 1, width - 1))
    two = np.float32(2)
    transform = [c, -s, (w - (c * w - s * h)) / two, s, c, (h - (s * w + c * h)) / two, 0, 0]
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=image[None], transforms=np.array([transform], np.float32), output_shape=[height, width],
        interpolation=mode, fill_mode="CONSTANT", fill_value=7.0)[0]


def main():
    random = np.random.RandomState(3)
    pictures = {"u8": random.randint(0, 256, (13, 18, 3)).astype(np.uint8),
                "f32": random.uniform(0, 1, (10, 7, 3)).astype(np.float32)}
    pictures["u8"][0, :4] = [[0, 0, 0], [255, 255, 255], [90, 90, 90], [255, 0, 0]]
    arrays = dict(pictures)
    for name, image in pictures.items():
        def add(text, result):
            arrays[name + " " + text] = np.asarray(result)

        add("crop 2 1 5 4", tf.image.crop_to_bounding_box(image, 2, 1, 5, 4))
        add("pad 3 2 20 25", tf.image.pad_to_bounding_box(image, 3, 2, 20, 25))
        for fraction in (0.3, 0.5, 0.87, 1.0):
            add("central_crop %g" % fraction, tf.image.central_crop(image, fraction))
        for height, width in ((6, 6), (20, 21), (5, 30), (13, 7)):
            add("crop_or_pad %d %d" % (height, width), tf.image.resize_with_crop_or_pad(image, height, width))
        add("flip_left_right", tf.image.flip_left_right(image))
        add("flip_up_down", tf.image.flip_up_down(image))
        for turns in range(-1, 5):
            add("rot90 %d" % turns, tf.image.rot90(image, turns % 4))
        for radians in (0.0, 0.5, -1.2, math.pi / 2, 3.0, 100.0):
            add("rotate %.17g" % radians, rotate(image, radians, "BILINEAR"))
            add("rotate_nearest %.17g" % radians, rotate(image, radians, "NEAREST"))
        for delta in (-0.4, 0.0, 0.15, 2.0):
            add("brightness %g" % delta, tf.image.adjust_brightness(image, delta))
        for factor in (0.0, 0.3, 1.0, 2.5):
            add("contrast %g" % factor, tf.image.adjust_contrast(image, factor))
            add("saturation %g" % factor, tf.image.adjust_saturation(image, factor))
        for delta in (-1.0, -0.35, 0.0, 0.2, 0.75):
            add("hue %g" % delta, tf.image.adjust_hue(image, delta))
        add("standardize", tf.image.per_image_standardization(image))
    safetensors_file.write("transform.safetensors", arrays)


main()
