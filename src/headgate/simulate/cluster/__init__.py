"""A simulated cluster in virtual time: objects, scheduler, kubelet, garbage collection."""
