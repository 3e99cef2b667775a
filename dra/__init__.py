"""resource.k8s.io/v1 as models, and what can be known about it without a cluster. Never imports pulumi."""
