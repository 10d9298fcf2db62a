package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const patience = 2 * time.Minute

// controlPlane is one run. Everything it needs and leaves is in dir, so that a later run on the same folder and port is
// the same cluster again.
type controlPlane struct {
	dir            string
	port           int
	nodes          int
	nodePods       int
	stages         string
	audit          string
	apiServerFlags string
	withProcess    int
	isOrphan       atomic.Bool

	url   string
	token string
	rest  *rest.Config
}

func up(args []string) int {
	c := &controlPlane{}
	flags := flag.NewFlagSet("up", flag.ExitOnError)
	flags.StringVar(&c.dir, "dir", "", "folder of this cluster; made if it is not there, and used again if it is")
	flags.IntVar(&c.port, "port", 0, "port of the API server on 127.0.0.1; 0 takes a free one")
	flags.IntVar(&c.nodes, "nodes", 0, "how many nodes there are")
	flags.IntVar(&c.nodePods, "node-pods", 110, "how many pods a node takes")
	flags.StringVar(&c.stages, "stages", "", "file with further kwok stages")
	flags.StringVar(&c.audit, "audit", "", "file for the API server's audit log; none without it")
	flags.StringVar(&c.apiServerFlags, "apiserver-flags", "", "further flags of the API server, separated by blanks")
	flags.IntVar(&c.withProcess, "with-process", 0, "id of a process; when it ends, the cluster goes with its folder")
	_ = flags.Parse(args)
	if c.dir == "" {
		fmt.Fprintln(os.Stderr, "control-plane: --dir is required")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if c.withProcess != 0 {
		go c.endWith(c.withProcess, stop)
	}
	err := c.run(ctx)
	c.remove()
	if err != nil {
		fmt.Fprintln(os.Stderr, "control-plane:", err)
		return 1
	}
	return 0
}

// endWith ends this process soon after the given one. Nobody is left who could use the folder, which may be large.
func (c *controlPlane) endWith(process int, stop func()) {
	for isRunning(process) {
		time.Sleep(300 * time.Millisecond)
	}
	c.isOrphan.Store(true)
	stop()
	time.Sleep(5 * time.Second)
	c.remove()
	os.Exit(1)
}

// remove takes the folder away if nobody is left who could use it; etcd may be writing to it still.
func (c *controlPlane) remove() {
	for attempt := 0; c.isOrphan.Load() && attempt < 10; attempt++ {
		if os.RemoveAll(c.dir) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// isRunning: a process that has ended and that nobody has waited for does not count.
func isRunning(process int) bool {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	return err == nil && !strings.Contains(string(content), ") Z ")
}

func (c *controlPlane) path(name string) string { return filepath.Join(c.dir, name) }

func (c *controlPlane) run(ctx context.Context) error {
	start := time.Now()
	listener, err := c.prepare()
	if err != nil {
		return err
	}
	etcd, err := c.startEtcd()
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	// Nobody waits for its end: it writes each change before it is answered.
	defer func() { go etcd.Close() }()

	failed := make(chan error, 4)
	servers := newComponents(failed)
	defer servers.stop(500 * time.Millisecond)
	servers.start("kube-apiserver", func(ctx context.Context) error { return c.apiServer(ctx, listener) })
	client := kubernetes.NewForConfigOrDie(c.rest)
	if err := until(ctx, failed, func() bool { return isServing(ctx, client) }); err != nil {
		return err
	}

	if err := c.freeNodes(ctx, client); err != nil {
		return err
	}
	clients := newComponents(failed)
	defer clients.stop(300 * time.Millisecond)
	clients.start("kube-controller-manager", c.controllerManager)
	clients.start("kube-scheduler", c.scheduler)
	clients.start("kwok", c.kwok)
	if err := c.createNodes(ctx, client); err != nil {
		return err
	}
	if err := until(ctx, failed, func() bool { return c.isSettled(ctx, client) }); err != nil {
		return err
	}
	debug.FreeOSMemory()
	if err := c.sayReady(time.Since(start)); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// prepare takes the port, so that nobody else can, and writes all files.
func (c *controlPlane) prepare() (net.Listener, error) {
	var err error
	if c.dir, err = filepath.Abs(c.dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, err
	}
	if c.audit != "" {
		if c.audit, err = filepath.Abs(c.audit); err != nil {
			return nil, err
		}
	}
	// etcd's sockets are named relative to the current folder: a path to a socket may not be long.
	if err := os.Chdir(c.dir); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", c.port))
	if err != nil {
		return nil, err
	}
	c.port = listener.Addr().(*net.TCPAddr).Port
	c.url = fmt.Sprintf("https://127.0.0.1:%d", c.port)
	if err := c.writeCredentials(); err != nil {
		return nil, err
	}
	if err := c.writeConfiguration(); err != nil {
		return nil, err
	}
	return listener, c.redirectLogs()
}

// redirectLogs sends what all components write to standard error into one file.
func (c *controlPlane) redirectLogs() error {
	file, err := os.OpenFile(c.path("log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	return syscall.Dup3(int(file.Fd()), 2, 0)
}

func (c *controlPlane) sayReady(after time.Duration) error {
	line, err := json.Marshal(map[string]any{
		"url": c.url, "port": c.port, "token": c.token, "ca": c.path("ca.crt"), "kubeconfig": c.path("kubeconfig"),
		"pid": os.Getpid(), "seconds": after.Seconds(),
	})
	if err != nil {
		return err
	}
	_, err = fmt.Println(string(line))
	return err
}

func until(ctx context.Context, failed chan error, isTrue func() bool) error {
	deadline := time.After(patience)
	for !isTrue() {
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return errors.New("not ready after two minutes; the folder's log says why")
		case <-time.After(25 * time.Millisecond):
		}
	}
	return nil
}

// components run beside each other until they are stopped together.
type components struct {
	ctx    context.Context
	cancel context.CancelFunc
	failed chan error
	group  sync.WaitGroup
}

func newComponents(failed chan error) *components {
	ctx, cancel := context.WithCancel(context.Background())
	return &components{ctx: ctx, cancel: cancel, failed: failed}
}

func (c *components) start(name string, run func(context.Context) error) {
	c.group.Add(1)
	go func() {
		defer c.group.Done()
		if err := run(c.ctx); err != nil && !errors.Is(err, context.Canceled) {
			c.failed <- fmt.Errorf("%s: %w", name, err)
		}
	}()
}

func (c *components) stop(patience time.Duration) {
	c.cancel()
	done := make(chan struct{})
	go func() { c.group.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
	}
}
