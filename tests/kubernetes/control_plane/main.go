// Command control-plane is a Kubernetes control plane for tests, in one process: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler, and kwok in place of nodes.
//
//	control-plane up --dir DIR [--nodes 3]    runs until SIGTERM; prints one line of JSON when everything is ready
//	control-plane kubectl ...                 the command line of the same version
//	control-plane version
package main

import (
	"fmt"
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/component-base/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
)

func main() {
	command := ""
	if len(os.Args) > 1 {
		command = os.Args[1]
		os.Args = append([]string{command}, os.Args[2:]...)
	}
	switch command {
	case "up":
		os.Exit(up(os.Args[1:]))
	case "kubectl":
		os.Exit(cli.Run(kubectl.NewDefaultKubectlCommand()))
	case "version":
		fmt.Println(version.Get().GitVersion)
	default:
		fmt.Fprintln(os.Stderr, "usage: control-plane up|kubectl|version ...")
		os.Exit(2)
	}
}
