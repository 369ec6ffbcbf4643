"""TensorFlow, whose consumer takes capsules only.

Install: tensorflow-cpu==2.21.0
"""

import numpy as np
import tensorflow as tf

from refarray.testing.adapters import Adapter


class TensorFlow(Adapter):
    name = "tensorflow"
    version = tf.__version__

    @staticmethod
    def from_dlpack(x, /):
        return tf.experimental.dlpack.from_dlpack(x.__dlpack__())

    def make(self, values, shape, dtype):
        return tf.constant(np.asarray(values, dtype=dtype).reshape(shape))

    def read(self, array):
        return array.numpy().ravel().tolist()

    def read_only(self, array):
        return array  # every tensor is immutable

    def unexportable(self):
        return tf.constant(["text"])
