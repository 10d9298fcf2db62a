package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	basecompatibility "k8s.io/component-base/compatibility"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	manageroptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
)

// The components' own commands cannot share a process, because several of them install the one signal handler; so their
// options and Run functions are used, which is what those commands do.

// startEtcd gives it two sockets in the current folder and no port. It elects itself at once, and does not wait for the
// disk: what it wrote outlives the process, though not the machine.
func (c *controlPlane) startEtcd() (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = c.path("etcd")
	config.UnsafeNoFsync = true
	config.TickMs, config.ElectionMs = 10, 100
	// Without it, a watch on something quiet has no bookmarks.
	config.WatchProgressNotifyInterval = 5 * time.Second
	config.LogLevel, config.LogOutputs = "error", []string{"stderr"}
	peers := []url.URL{{Scheme: "unix", Host: "localhost:2380"}}
	clients := []url.URL{{Scheme: "unix", Host: "localhost:2379"}}
	config.ListenPeerUrls, config.AdvertisePeerUrls = peers, peers
	config.ListenClientUrls, config.AdvertiseClientUrls = clients, clients
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-server.Server.ReadyNotify():
		return server, nil
	case err := <-server.Err():
		return nil, err
	case <-time.After(patience):
		return nil, errors.New("not ready after two minutes")
	}
}

func (c *controlPlane) apiServer(ctx context.Context, listener net.Listener) error {
	options := apiserveroptions.NewServerRunOptions()
	flags := []string{
		"--etcd-servers=unix://localhost:2379",
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", c.port),
		"--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16",
		"--tls-cert-file=" + c.path("apiserver.crt"), "--tls-private-key-file=" + c.path("apiserver.key"),
		"--client-ca-file=" + c.path("ca.crt"), "--token-auth-file=" + c.path("tokens"), "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.path("service-accounts.key"),
		"--service-account-signing-key-file=" + c.path("service-accounts.key"),
		"--allow-privileged=true", "--profiling=false",
		"--enable-priority-and-fairness=false", "--max-requests-inflight=0", "--max-mutating-requests-inflight=0",
	}
	if c.audit != "" {
		flags = append(flags, "--audit-policy-file="+c.path("audit-policy.yaml"), "--audit-log-path="+c.audit)
	}
	if err := parse(options.Flags(), append(flags, strings.Fields(c.apiServerFlags)...)); err != nil {
		return err
	}
	options.SecureServing.Listener = listener
	registry := options.GenericServerRunOptions.ComponentGlobalsRegistry
	if err := registry.Set(); err != nil {
		return err
	}
	gates := registry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApply(options.Logs, gates); err != nil {
		return err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	completed, err := options.Complete(ctx)
	if err != nil {
		return err
	}
	if problems := completed.Validate(); len(problems) > 0 {
		return utilerrors.NewAggregate(problems)
	}
	return apiserver.Run(ctx, completed)
}

func (c *controlPlane) controllerManager(ctx context.Context) error {
	options, err := manageroptions.NewKubeControllerManagerOptions()
	if err != nil {
		return err
	}
	known, disabled, aliases := manager.KnownControllers(), manager.ControllersDisabledByDefault(), manager.ControllerAliases()
	flags := options.Flags(known, disabled, aliases)
	options.ParsedFlags = &flags
	if err := parse(flags, []string{
		"--kubeconfig=" + c.path("own-kubeconfig"), "--leader-elect=false", "--secure-port=0", "--profiling=false",
		"--service-account-private-key-file=" + c.path("service-accounts.key"), "--root-ca-file=" + c.path("ca.crt"),
		"--kube-api-qps=1000", "--kube-api-burst=2000",
	}); err != nil {
		return err
	}
	config, err := options.Config(ctx, known, disabled, aliases)
	if err != nil {
		return err
	}
	return manager.Run(ctx, config.Complete())
}

func (c *controlPlane) scheduler(ctx context.Context) error {
	options := scheduleroptions.NewOptions()
	if err := parse(*options.Flags, []string{"--config=" + c.path("scheduler.yaml"), "--secure-port=0"}); err != nil {
		return err
	}
	config, scheduling, err := scheduler.Setup(ctx, options)
	if err != nil {
		return err
	}
	return scheduler.Run(ctx, config, scheduling)
}

func parse(named cliflag.NamedFlagSets, args []string) error {
	all := pflag.NewFlagSet("component", pflag.ContinueOnError)
	for _, flags := range named.FlagSets {
		all.AddFlagSet(flags)
	}
	return all.Parse(args)
}

// kwok reads its options from the arguments of the process, as its own command does.
func (c *controlPlane) kwok(ctx context.Context) error {
	os.Args = []string{"kwok", "--config", c.path("kwok.yaml"), "--kubeconfig", c.path("own-kubeconfig"), "--v", "WARN"}
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, _ = kwoklog.InitFlags(ctx, flags)
	ctx, err := kwokconfig.InitFlags(ctx, flags)
	if err != nil {
		return err
	}
	command := kwok.NewCommand(ctx)
	command.Version = "" // its flag would be the second --version of the process
	command.PersistentFlags().AddFlagSet(flags)
	return command.ExecuteContext(ctx)
}
