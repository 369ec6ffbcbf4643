"""PyTorch.

Install: torch==2.13.0
"""

import torch

from refarray.testing.adapters import Adapter


class Torch(Adapter):
    name = "torch"
    version = torch.__version__
    cpu = "cpu"
    from_dlpack = staticmethod(torch.from_dlpack)

    def make(self, values, shape, dtype):
        return torch.tensor(values, dtype=getattr(torch, dtype)).reshape(shape)

    def read(self, array):
        plain = array.detach().resolve_conj().resolve_neg()
        return plain.flatten().tolist()

    def unexportable(self):
        return torch.eye(2).to_sparse()

    def special(self):
        z = torch.tensor([1 + 2j])
        return {
            "requires_grad": torch.ones(2, requires_grad=True),
            "conjugated": z.conj(),
            "negated": z.conj().imag,
        }
