// Package keelsontesting runs a Kubernetes API server for a test. The server is a child process
// that ends with the test and keeps its objects in memory. Tests can inject faults, move the
// server's clock, read a history of all writes, and create forks and snapshots. The package needs
// only Keelson (Node 24.18.1 or newer) and the standard library. docs/testing.md in Keelson's
// repository explains faults, the clock and the history.
package keelsontesting

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Long enough for a CI machine that stalls for a while.
const (
	requestTimeout = time.Minute
	stopTimeout    = time.Minute
	startTimeout   = 2 * time.Minute
)

// Options configures Start. The zero value is valid.
type Options struct {
	// Command runs Keelson. If empty, it is the environment variable KEELSON, or "npx keelson".
	Command []string
	// Flags are flags of "keelson serve".
	Flags []string
}

// Cluster is a running API server.
type Cluster struct {
	// URL is "https://127.0.0.1:PORT".
	URL string
	// Kubeconfig is the content of a kubeconfig, for clientcmd.RESTConfigFromKubeConfig.
	Kubeconfig []byte

	client *http.Client
	child  *exec.Cmd
	stdin  io.Closer
}

// Match selects the requests that a fault applies to. Empty fields match everything.
type Match struct {
	Verb      string `json:"verb,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	After     int    `json:"after,omitempty"`
	Times     int    `json:"times,omitempty"`
}

// Effect is what a fault does. Exactly one field must be set.
type Effect struct {
	Status         int    `json:"status,omitempty"`
	Conflict       bool   `json:"conflict,omitempty"`
	DelayMs        int    `json:"delayMs,omitempty"`
	DropConnection string `json:"dropConnection,omitempty"` // "before" or "after"
	CloseWatch     bool   `json:"closeWatch,omitempty"`
	StaleRead      bool   `json:"staleRead,omitempty"`
}

// Write is an entry of the history.
type Write struct {
	ResourceVersion string `json:"resourceVersion"`
	Operation       string `json:"operation"`
	Verb            string `json:"verb"`
	Group           string `json:"group"`
	Resource        string `json:"resource"`
	Subresource     string `json:"subresource"`
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	Source          string `json:"source"`
	UserAgent       string `json:"userAgent"`
	User            struct {
		Name   string   `json:"name"`
		Groups []string `json:"groups"`
	} `json:"user"`
	Object json.RawMessage `json:"object"`
	Before json.RawMessage `json:"before"`
	Owners []struct {
		Manager     string   `json:"manager"`
		Operation   string   `json:"operation"`
		Subresource string   `json:"subresource"`
		Fields      []string `json:"fields"`
	} `json:"owners"`
}

// Start starts a cluster and returns when it is ready. The caller should call Stop; otherwise the
// cluster ends with this process.
func Start(options Options) (*Cluster, error) {
	command := options.Command
	if len(command) == 0 {
		command = strings.Fields(os.Getenv("KEELSON"))
	}
	if len(command) == 0 {
		command = []string{"npx", "keelson"}
	}
	args := append(append([]string{}, command[1:]...), "serve", "--testing")
	child := exec.Command(command[0], append(args, options.Flags...)...)
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := child.Start(); err != nil {
		return nil, fmt.Errorf("keelson cannot be run: %w", err)
	}
	cluster, err := begin(child, stdout)
	if err != nil {
		_ = child.Process.Kill()
		_ = child.Wait()
		return nil, err
	}
	cluster.child, cluster.stdin = child, stdin
	return cluster, nil
}

func begin(child *exec.Cmd, stdout io.Reader) (*Cluster, error) {
	// A child that prints nothing is killed when the timeout expires.
	timer := time.AfterFunc(startTimeout, func() { _ = child.Process.Kill() })
	defer timer.Stop()
	var said struct{ Kubeconfig string }
	for lines := bufio.NewReader(stdout); said.Kubeconfig == ""; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil, errors.New("keelson did not start: see its output on stderr")
		}
		// npx may print other lines first.
		_ = json.Unmarshal(line, &said)
	}
	kubeconfig, err := os.ReadFile(said.Kubeconfig)
	if err != nil {
		return nil, err
	}
	return open(kubeconfig)
}

type kubeconfigFile struct {
	Clusters []struct {
		Cluster struct {
			Server    string
			Authority string `json:"certificate-authority-data"`
		}
	}
	Users []struct {
		User struct {
			Certificate string `json:"client-certificate-data"`
			Key         string `json:"client-key-data"`
		}
	}
}

func open(kubeconfig []byte) (*Cluster, error) {
	var parsed kubeconfigFile
	if err := json.Unmarshal(kubeconfig, &parsed); err != nil {
		return nil, err
	}
	if len(parsed.Clusters) == 0 || len(parsed.Users) == 0 {
		return nil, errors.New("the kubeconfig has no cluster or no user")
	}
	cluster, user := parsed.Clusters[0].Cluster, parsed.Users[0].User
	var decoded [3][]byte
	for i, text := range []string{cluster.Authority, user.Certificate, user.Key} {
		bytes, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, err
		}
		decoded[i] = bytes
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(decoded[0])
	pair, err := tls.X509KeyPair(decoded[1], decoded[2])
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	client := &http.Client{Transport: transport, Timeout: requestTimeout}
	return &Cluster{URL: cluster.Server, Kubeconfig: kubeconfig, client: client}, nil
}

// WriteKubeconfig writes the kubeconfig into a folder, such as t.TempDir(), and returns its path.
func (c *Cluster) WriteKubeconfig(folder string) (string, error) {
	path := filepath.Join(folder, "kubeconfig")
	return path, os.WriteFile(path, c.Kubeconfig, 0o600)
}

// Fault sets a fault and returns a function that removes it.
func (c *Cluster) Fault(match Match, effect Effect) (off func() error, err error) {
	var answer struct{ ID string }
	body := map[string]any{"match": match, "effect": effect}
	if err := c.control(http.MethodPost, "faults", body, &answer); err != nil {
		return nil, err
	}
	return func() error { return c.control(http.MethodDelete, "faults/"+answer.ID, nil, nil) }, nil
}

// ClearFaults removes all faults.
func (c *Cluster) ClearFaults() error { return c.control(http.MethodDelete, "faults", nil, nil) }

// History returns all writes, or those that match. Keys are resource, group, namespace, name, user,
// verb, source and after.
func (c *Cluster) History(match map[string]string) ([]Write, error) {
	query := url.Values{}
	for name, value := range match {
		query.Set(name, value)
	}
	var answer struct{ Writes []Write }
	err := c.control(http.MethodGet, "history?"+query.Encode(), nil, &answer)
	return answer.Writes, err
}

// AdvanceClock moves the server's clock forward.
func (c *Cluster) AdvanceClock(by time.Duration) error {
	return c.control(http.MethodPost, "clock", map[string]any{"advance": by.String()}, nil)
}

// Snapshot saves the current state and returns a function that restores it.
func (c *Cluster) Snapshot() (restore func() error, err error) {
	var answer struct{ ID string }
	if err := c.control(http.MethodPost, "snapshots", nil, &answer); err != nil {
		return nil, err
	}
	return func() error { return c.control(http.MethodPost, "snapshots/"+answer.ID+"/restore", nil, nil) }, nil
}

// Reset restores a new cluster: its initial objects, no faults and no history.
func (c *Cluster) Reset() error { return c.control(http.MethodPost, "reset", nil, nil) }

// Fork returns another cluster with the state of this one.
func (c *Cluster) Fork() (*Cluster, error) {
	var answer struct{ Kubeconfig json.RawMessage }
	if err := c.control(http.MethodPost, "forks", nil, &answer); err != nil {
		return nil, err
	}
	return open(answer.Kubeconfig)
}

// Stop ends the cluster. For a fork, it ends only the fork.
func (c *Cluster) Stop() error {
	defer c.client.CloseIdleConnections()
	if c.child == nil {
		return c.control(http.MethodPost, "stop", nil, nil)
	}
	// The child ends when its standard input is closed.
	if err := c.stdin.Close(); err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.child.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-limit.Done():
		_ = c.child.Process.Kill()
		<-ended
		return errors.New("keelson did not stop in time, and was killed")
	}
}

// Do sends a request with a JSON body to the API server and returns the status and the response
// body.
func (c *Cluster) Do(method, path string, body any) (int, []byte, error) {
	var reader io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		reader = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, c.URL+path, reader)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

func (c *Cluster) control(method, path string, body, result any) error {
	status, answer, err := c.Do(method, "/keelson/testing/"+path, body)
	if err != nil {
		return err
	}
	if status >= 300 {
		var said struct{ Message string }
		_ = json.Unmarshal(answer, &said)
		return fmt.Errorf("keelson responded with status %d: %s", status, said.Message)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer, result)
}
