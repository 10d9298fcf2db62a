package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func isServing(ctx context.Context, client kubernetes.Interface) bool {
	_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	return err == nil
}

// freeNodes takes back what kwok held in an earlier run on the same folder. It leads each node by a lease and has another
// name in every run: until the old leases are over, which can take as long as a node may be silent, no pod would become
// ready, and the controller of nodes might say of all of them that they are not.
func (c *controlPlane) freeNodes(ctx context.Context, client kubernetes.Interface) error {
	leases := client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	return leases.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

// createNodes names them node-000, node-001 and so on; those of an earlier run on the same folder are there already.
func (c *controlPlane) createNodes(ctx context.Context, client kubernetes.Interface) error {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("32"),
		corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods:   *resource.NewQuantity(int64(c.nodePods), resource.DecimalSI),
	}
	for number := range c.nodes {
		name := fmt.Sprintf("node-%03d", number)
		labels := map[string]string{
			corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
			Status:     corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
		}
		_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// isSettled: pods can be created, and would be scheduled on every new node. An old folder may hold a node that is down.
func (c *controlPlane) isSettled(ctx context.Context, client kubernetes.Interface) bool {
	if _, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return false
	}
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return false
	}
	for _, node := range list.Items {
		if node.Annotations[downAnnotation] == "" && !node.Spec.Unschedulable && !isReady(node) {
			return false
		}
	}
	return true
}

func isReady(node corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue && len(node.Spec.Taints) == 0
		}
	}
	return false
}
