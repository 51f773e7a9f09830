"""Makes transcripts/model.safetensors: the first weights and the data of the models of transcripts/, which make_keras2.py trains.

  python3.11 -m venv v && v/bin/pip install 'tensorflow-cpu==2.15.*' safetensors && v/bin/python make_transcript_model.py
"""
import os
os.environ.update(TF_CPP_MIN_LOG_LEVEL='3', CUDA_VISIBLE_DEVICES='')
import numpy as np
import tensorflow as tf
from safetensors.numpy import save_file

keras = tf.keras
keras.backend.clear_session()
keras.utils.set_random_seed(7)
random = np.random.RandomState(7)
model = keras.Sequential([keras.layers.Dense(3, input_shape=(4,), activation='softmax')])
kernel, bias = model.get_weights()
x, y = random.randn(50, 4).astype('f4'), random.randint(0, 3, 50)
save_file({'kernel': kernel, 'bias': bias, 'x': x, 'y': y.astype('i8')},
          os.path.join(os.path.dirname(os.path.abspath(__file__)), 'transcripts', 'model.safetensors'))
