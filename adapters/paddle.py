"""PaddlePaddle.

Install: paddlepaddle==3.3.1
"""

import paddle

from refarray.testing.adapters import Adapter


class Paddle(Adapter):
    name = "paddle"
    version = paddle.__version__
    dtypes = (
        *("bool", "int8", "int16", "int32", "int64", "uint8"),
        *("float32", "float64", "complex64", "complex128"),
    )
    cpu = paddle.CPUPlace()
    from_dlpack = staticmethod(paddle.utils.dlpack.from_dlpack)

    def make(self, values, shape, dtype):
        return paddle.to_tensor(values, dtype=dtype).reshape(shape)

    def read(self, array):
        return array.numpy().ravel().tolist()

    def special(self):
        x = paddle.ones([2])
        x.stop_gradient = False
        return {"tracked for gradients": x}
