"""What a DRA driver's Helm chart brings to the cluster beside its pods: the DeviceClasses."""

from dataclasses import dataclass

import pulumi

from components.claims import DeviceClass, DeviceClassArgs
from components.options import child_of
from dra.claim import DeviceClassSpec, selector
from dra.pool import GPU_DRIVER, GPU_RESOURCE

GPU_CLASS = "gpu.nvidia.com"
MIG_CLASS = "mig.nvidia.com"

CLASSES = {
    GPU_CLASS: DeviceClassSpec(
        selectors=[
            selector(f"device.driver == '{GPU_DRIVER}' && device.attributes['{GPU_DRIVER}'].type == 'gpu'")
        ],
        extended_resource_name=GPU_RESOURCE,
    ),
    MIG_CLASS: DeviceClassSpec(
        selectors=[
            selector(f"device.driver == '{GPU_DRIVER}' && device.attributes['{GPU_DRIVER}'].type == 'mig'")
        ],
    ),
}
"""As NVIDIA's driver has them: whole GPUs, which `nvidia.com/gpu` gives out too, and partitions.

Source: kubernetes-sigs/dra-driver-nvidia-gpu, deployments/helm, templates/deviceclass-*.yaml.
"""


@dataclass(frozen=True, kw_only=True)
class DraDriverArgs:
    """`enabled`: whether the cluster has the driver."""

    enabled: bool = True


class DraDriver(pulumi.ComponentResource):
    """NVIDIA's DRA driver, as far as objects go. The devices come with the nodes' pools."""

    def __init__(self, name: str, args: DraDriverArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:driver:DraDriver", name, {}, opts)
        classes = [
            DeviceClass(
                f"{name}-{class_name}",
                DeviceClassArgs(class_name=class_name, spec=spec),
                opts=child_of(self, opts),
            )
            for class_name, spec in (CLASSES.items() if args.enabled else ())
        ]
        self.classes = pulumi.Output.all(*[made.name for made in classes])
        self.register_outputs({"classes": self.classes})
