"""A simulated cluster in virtual time, an adapter of the port: objects, scheduler, kubelets, garbage collection."""
