"""One Pulumi ComponentResource a file: what exists in the cluster."""
