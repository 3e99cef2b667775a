"""A real Kubernetes control plane as host processes, one a stack, made by kwokctl."""
