// Package keelsontesting runs a Kubernetes API server for tests. The server is a child process that
// ends with the tests and keeps all objects in memory. A test can fork it, restore snapshots, make
// requests fail, move the clock of the server, and read a history of all writes.
//
// The package needs Keelson, which runs on Node 24.18.1 or newer, and only the standard library of
// Go. The field Kubeconfig of a cluster connects any client, such as client-go:
//
//	config, err := clientcmd.RESTConfigFromKubeConfig(cluster.Kubeconfig)
//
// The page docs/testing.md of Keelson explains faults, the clock and the history.
package keelsontesting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// requestTimeout limits a request whose context has no deadline. It is long enough for a CI
	// machine that stalls for a while.
	requestTimeout = time.Minute
	// waitTimeout limits WaitFor if its context has no deadline.
	waitTimeout  = 30 * time.Second
	pollInterval = 25 * time.Millisecond
)

// Options configures Start. The zero value is valid.
type Options struct {
	// Command runs Keelson. If it is empty, the environment variable KEELSON contains the command.
	// If the variable is also empty, the command is "npx --no-install keelson", which runs the npm
	// package that is installed in the project.
	Command []string
	// Kubernetes is the Kubernetes release of the server, such as "1.33" or "latest". If it is empty,
	// the server has the default release.
	Kubernetes string
	// Controllers are the names of the controllers to run. If it is nil, all controllers run. An
	// empty list runs none, like envtest.
	Controllers []string
	// Now is the time at which the clock of the server starts. The zero value is the real time.
	Now time.Time
	// Flags are further flags of "keelson serve".
	Flags []string
	// Stderr receives warnings and errors of the server. If it is nil, it is os.Stderr.
	Stderr io.Writer
}

// User is a user of the server. RBAC determines the permissions of the user.
type User struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
}

// Cluster is a running API server. Start and Fork return one. Its methods are safe for concurrent
// use.
type Cluster struct {
	// URL is the address of the server, such as "https://127.0.0.1:34567".
	URL string
	// Kubeconfig is the content of a kubeconfig for a member of system:masters.
	Kubeconfig []byte
	// ServerVersion is the version of Keelson that runs.
	ServerVersion string

	admin *http.Client
	// process is nil for a fork, which runs in the process of its origin.
	process *process

	mutex sync.Mutex
	users map[string]*http.Client
}

// Error is a response of the server that refuses a request to control it.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Message says what is wrong.
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("keelson responded with status %d: %s", e.Status, e.Message)
}

// Start starts a cluster and returns when it is ready. The context limits only the start: the
// cluster runs until Stop is called or this process ends.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	started, ready, err := startProcess(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("start Keelson: %w", err)
	}
	kubeconfig, err := os.ReadFile(ready.Kubeconfig)
	if err == nil {
		var cluster *Cluster
		if cluster, err = newCluster(kubeconfig, ready.Version); err == nil {
			cluster.process = started
			return cluster, nil
		}
	}
	started.kill()
	return nil, fmt.Errorf("start Keelson: %w", err)
}

func newCluster(kubeconfig []byte, version string) (*Cluster, error) {
	address, client, err := openKubeconfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the cluster: %w", err)
	}
	return &Cluster{
		URL:           address,
		Kubeconfig:    kubeconfig,
		ServerVersion: version,
		admin:         client,
		users:         map[string]*http.Client{},
	}, nil
}

// Stop stops the cluster. For a fork, it stops only the fork. A server that does not stop within a
// minute is killed.
func (c *Cluster) Stop() error {
	defer c.closeConnections()
	if c.process != nil {
		return c.process.stop()
	}
	return c.control(context.Background(), http.MethodPost, "stop", nil, nil)
}

func (c *Cluster) closeConnections() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.admin.CloseIdleConnections()
	for _, client := range c.users {
		client.CloseIdleConnections()
	}
}

// WriteKubeconfig writes the kubeconfig to a file in a folder, such as t.TempDir(), and returns the
// path of the file.
func (c *Cluster) WriteKubeconfig(folder string) (string, error) {
	path := filepath.Join(folder, "kubeconfig")
	if err := os.WriteFile(path, c.Kubeconfig, 0o600); err != nil {
		return "", fmt.Errorf("write the kubeconfig: %w", err)
	}
	return path, nil
}

// KubeconfigFor returns the content of a kubeconfig with a client certificate for another user.
func (c *Cluster) KubeconfigFor(ctx context.Context, user User) ([]byte, error) {
	var response struct{ Kubeconfig json.RawMessage }
	if err := c.control(ctx, http.MethodPost, "kubeconfigs", user, &response); err != nil {
		return nil, fmt.Errorf("issue a kubeconfig for %s: %w", user.Name, err)
	}
	return response.Kubeconfig, nil
}

// Fork returns another cluster that starts with the objects and the clock of this one. After that,
// changes in one of them do not affect the other. The caller should call Stop on the fork.
func (c *Cluster) Fork(ctx context.Context) (*Cluster, error) {
	var response struct{ Kubeconfig json.RawMessage }
	if err := c.control(ctx, http.MethodPost, "forks", nil, &response); err != nil {
		return nil, fmt.Errorf("fork the cluster: %w", err)
	}
	return newCluster(response.Kubeconfig, c.ServerVersion)
}

// Snapshot is a state of a cluster that Restore restores.
type Snapshot struct {
	cluster *Cluster
	id      string
}

// Snapshot saves the current state of the cluster.
func (c *Cluster) Snapshot(ctx context.Context) (*Snapshot, error) {
	var response struct{ ID string }
	if err := c.control(ctx, http.MethodPost, "snapshots", nil, &response); err != nil {
		return nil, fmt.Errorf("create a snapshot: %w", err)
	}
	return &Snapshot{cluster: c, id: response.ID}, nil
}

// Restore restores the state of the snapshot. Its writes are ordinary writes, so watches receive
// them and controllers can continue to run.
func (s *Snapshot) Restore(ctx context.Context) error {
	if err := s.cluster.control(ctx, http.MethodPost, "snapshots/"+s.id+"/restore", nil, nil); err != nil {
		return fmt.Errorf("restore a snapshot: %w", err)
	}
	return nil
}

// Delete removes the snapshot from the server.
func (s *Snapshot) Delete(ctx context.Context) error {
	if err := s.cluster.control(ctx, http.MethodDelete, "snapshots/"+s.id, nil, nil); err != nil {
		return fmt.Errorf("delete a snapshot: %w", err)
	}
	return nil
}

// Reset restores the state before the first write of the test. It removes all faults, snapshots and
// entries of the history. The clock does not change.
func (c *Cluster) Reset(ctx context.Context) error {
	if err := c.control(ctx, http.MethodPost, "reset", nil, nil); err != nil {
		return fmt.Errorf("reset the cluster: %w", err)
	}
	return nil
}

// Now returns the time of the server's clock.
func (c *Cluster) Now(ctx context.Context) (time.Time, error) {
	return c.clock(ctx, http.MethodGet, nil)
}

// AdvanceClock moves the server's clock forward and returns its new time. Events and tokens that
// are due have expired when it returns. Use WaitFor to wait for the work of controllers.
func (c *Cluster) AdvanceClock(ctx context.Context, by time.Duration) (time.Time, error) {
	return c.clock(ctx, http.MethodPost, map[string]any{"advance": by.String()})
}

func (c *Cluster) clock(ctx context.Context, method string, body any) (time.Time, error) {
	var response struct{ Now time.Time }
	if err := c.control(ctx, method, "clock", body, &response); err != nil {
		return time.Time{}, fmt.Errorf("use the clock: %w", err)
	}
	return response.Now, nil
}

// Apply applies the manifests of a folder with its subfolders, or of a file, and returns the
// applied objects in the order of the manifests. Namespaces and CustomResourceDefinitions are
// applied first. A folder with a kustomization is built with kustomize or kubectl.
func (c *Cluster) Apply(ctx context.Context, path string) ([]json.RawMessage, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("apply %s: %w", path, err)
	}
	return c.apply(ctx, map[string]any{"path": absolute})
}

// ApplyText applies manifests like Apply, but from a text of YAML documents or JSON.
func (c *Cluster) ApplyText(ctx context.Context, text string) ([]json.RawMessage, error) {
	return c.apply(ctx, map[string]any{"text": text})
}

// ApplyObjects applies objects like Apply. They are encoded as JSON and must have an apiVersion and
// a kind, which the typed objects of client-go often lack.
func (c *Cluster) ApplyObjects(ctx context.Context, objects ...any) ([]json.RawMessage, error) {
	return c.apply(ctx, map[string]any{"objects": objects})
}

func (c *Cluster) apply(ctx context.Context, source map[string]any) ([]json.RawMessage, error) {
	var response struct{ Objects []json.RawMessage }
	if err := c.control(ctx, http.MethodPost, "apply", source, &response); err != nil {
		return nil, fmt.Errorf("apply manifests: %w", err)
	}
	return response.Objects, nil
}

// WaitFor calls the condition several times a second until it returns true. An error of the
// condition does not end the wait. If the context has no deadline, the wait ends after 30 seconds.
// The returned error contains the argument what, which names the awaited state, and the last writes
// and refused requests. It wraps the last error of the condition or else the error of the context.
func (c *Cluster) WaitFor(
	ctx context.Context, what string, condition func(context.Context) (bool, error),
) error {
	began := time.Now()
	if _, hasDeadline := ctx.Deadline(); !hasDeadline {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, waitTimeout)
		defer cancel()
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var last error
	for {
		isMet, err := condition(ctx)
		if err == nil && isMet {
			return nil
		}
		// The end of the wait also ends the request of the condition, which does not explain why
		// the condition is not met.
		if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
			last = err
		}
		select {
		case <-ctx.Done():
			if last == nil {
				last = ctx.Err()
			}
			waited := time.Since(began).Round(time.Millisecond)
			return fmt.Errorf("waited %s for %s: %w%s", waited, what, last, c.explain())
		case <-ticker.C:
		}
	}
}
