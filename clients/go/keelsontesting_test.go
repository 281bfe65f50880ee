package keelsontesting

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

func create(t *testing.T, c *Cluster, name string) int {
	t.Helper()
	body := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}}
	status, _, err := c.Do(http.MethodPost, configMaps, body)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func get(t *testing.T, c *Cluster, path string) int {
	t.Helper()
	status, _, err := c.Do(http.MethodGet, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func remove(t *testing.T, c *Cluster, path string) int {
	t.Helper()
	status, _, err := c.Do(http.MethodDelete, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func TestCluster(t *testing.T) {
	cluster, err := Start(Options{})
	must(t, err)
	defer func() { must(t, cluster.Stop()) }()

	path, err := cluster.WriteKubeconfig(t.TempDir())
	must(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}

	t.Run("faults", func(t *testing.T) {
		must(t, cluster.Reset())
		off, err := cluster.Fault(Match{Verb: "create", Resource: "configmaps", Times: 1}, Effect{Status: 503})
		must(t, err)
		same(t, "first", create(t, cluster, "x"), 503)
		same(t, "second", create(t, cluster, "x"), 201)
		must(t, off())
		_, err = cluster.Fault(Match{}, Effect{Conflict: true})
		must(t, err)
		same(t, "get", get(t, cluster, configMaps+"/x"), 200)
		same(t, "delete", remove(t, cluster, configMaps+"/x"), 409)
		must(t, cluster.ClearFaults())
		same(t, "delete", remove(t, cluster, configMaps+"/x"), 200)
		if _, err := cluster.Fault(Match{Verb: "list"}, Effect{Conflict: true}); err == nil {
			t.Fatal("a conflict for a list was accepted")
		}
		if _, err := cluster.Fault(Match{}, Effect{}); err == nil {
			t.Fatal("an empty effect was accepted")
		}
	})

	t.Run("history", func(t *testing.T) {
		must(t, cluster.Reset())
		same(t, "create", create(t, cluster, "x"), 201)
		writes, err := cluster.History(map[string]string{"resource": "configmaps", "name": "x"})
		must(t, err)
		same(t, "writes", len(writes), 1)
		same(t, "verb", writes[0].Verb, "create")
		same(t, "user", writes[0].User.Name, "kubernetes-admin")
	})

	t.Run("states", func(t *testing.T) {
		must(t, cluster.Reset())
		same(t, "create", create(t, cluster, "first"), 201)
		restore, err := cluster.Snapshot()
		must(t, err)
		fork, err := cluster.Fork()
		must(t, err)
		same(t, "create", create(t, fork, "there"), 201)
		same(t, "create", create(t, cluster, "here"), 201)
		same(t, "get", get(t, cluster, configMaps+"/there"), 404)
		same(t, "get", get(t, fork, configMaps+"/first"), 200)
		must(t, fork.Stop())
		must(t, restore())
		same(t, "get", get(t, cluster, configMaps+"/here"), 404)
		same(t, "get", get(t, cluster, configMaps+"/first"), 200)
	})

	t.Run("clock", func(t *testing.T) {
		events := "/api/v1/namespaces/default/events"
		about := map[string]any{"kind": "ConfigMap", "namespace": "default", "name": "x"}
		event := map[string]any{"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"name": "e"}, "involvedObject": about}
		status, _, err := cluster.Do(http.MethodPost, events, event)
		must(t, err)
		same(t, "create", status, 201)
		must(t, cluster.AdvanceClock(2*time.Hour))
		same(t, "get", get(t, cluster, events+"/e"), 404)
	})
}

func TestFailedStartLeavesNoProcess(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pid")
	for _, said := range []string{`echo '{"kubeconfig":"/none"}'`, `echo '{"kubeconfig":"/dev/null"}'`, "echo something; exec >&-"} {
		script := "echo $$ > " + pids + "; " + said + "; exec sleep 600"
		if _, err := Start(Options{Command: []string{"sh", "-c", script}}); err == nil {
			t.Fatal("Start succeeded")
		}
		text, err := os.ReadFile(pids)
		must(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		must(t, err)
		if process, err := os.FindProcess(pid); err == nil && process.Signal(syscall.Signal(0)) == nil {
			t.Fatalf("after %s process %d is still running", said, pid)
		}
	}
}
