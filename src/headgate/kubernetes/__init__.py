"""A client for Kubernetes: who one is (kubeconfig), what can be asked (verbs, discovery, schemas), and what happens
(watches, reflectors), with the election of a leader among several processes.

It decides nothing. Documents are plain JSON values, as the API server sends them; what controllers see of them are the
objects of the kernel.
"""
