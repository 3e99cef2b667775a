"""What NVIDIA's DRA driver says of a GPU product.

Product names are the driver's `productName`, with spaces; the node label `nvidia.com/gpu.product` has
dashes. Memory, names and counts are those of fake-gpu-operator's built-in profiles (v0.2.0); compute
capabilities are NVIDIA's. Driver versions are one recent release (strict semver, as the API demands).
"""

from dra.model import Model


class GpuProduct(Model):
    """The attributes that all GPUs of a product share."""

    architecture: str
    compute_capability: str
    memory: str
    driver: str = "580.126.20"
    cuda: str = "13.0.0"


PRODUCTS = {
    "NVIDIA T4": GpuProduct(architecture="Turing", compute_capability="7.5.0", memory="16Gi"),
    "NVIDIA A100-SXM4-40GB": GpuProduct(architecture="Ampere", compute_capability="8.0.0", memory="40Gi"),
    "NVIDIA L40S": GpuProduct(architecture="Ada Lovelace", compute_capability="8.9.0", memory="48Gi"),
    "NVIDIA H100 80GB HBM3": GpuProduct(architecture="Hopper", compute_capability="9.0.0", memory="80Gi"),
    "NVIDIA B200": GpuProduct(architecture="Blackwell", compute_capability="10.0.0", memory="192Gi"),
}
