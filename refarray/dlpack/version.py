"""The version of DLPack's header that refarray writes tensors to, and reads: (1, 3)."""

VERSION = (1, 3)
