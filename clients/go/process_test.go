package keelsontesting

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestArguments(t *testing.T) {
	t.Setenv("KEELSON", "node  main.js")
	for _, one := range []struct {
		options Options
		want    string
	}{
		{Options{}, "node main.js serve --testing"},
		{Options{Command: []string{"keelson"}, Kubernetes: "1.33"}, "keelson serve --testing --kubernetes=1.33"},
		{Options{Command: []string{"keelson"}, Flags: []string{"--v=2"}}, "keelson serve --testing --v=2"},
		{Options{Controllers: []string{}}, "node main.js serve --testing --controllers="},
		{
			Options{Controllers: []string{"job", "ttl"}, Now: time.Unix(0, 0)},
			"node main.js serve --testing --controllers=job,ttl --testing-now=1970-01-01T00:00:00Z",
		},
	} {
		if got := strings.Join(argumentsOf(one.options), " "); got != one.want {
			t.Errorf("got %q, wanted %q", got, one.want)
		}
	}
	t.Setenv("KEELSON", "")
	want := "npx --no-install keelson serve --testing"
	if got := strings.Join(argumentsOf(Options{}), " "); got != want {
		t.Errorf("got %q, wanted %q", got, want)
	}
}

func TestFailedStartLeavesNoProcess(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pid")
	for _, output := range []string{
		`echo '{"kubeconfig":"/none"}'`, `echo '{"kubeconfig":"/dev/null"}'`, "exec >&-",
	} {
		script := "echo $$ > " + pids + "; " + output + "; exec sleep 600"
		command := []string{"sh", "-c", script}
		if _, err := Start(context.Background(), Options{Command: command}); err == nil {
			t.Fatal("Start succeeded")
		}
		checkEnded(t, pids)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			if text, _ := os.ReadFile(pids); len(text) > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	command := []string{"sh", "-c", "echo $$ > " + pids + "; exec sleep 600"}
	_, err := Start(ctx, Options{Command: command})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	checkEnded(t, pids)
}

func TestErrorOfAFailedStartHasTheOutput(t *testing.T) {
	command := []string{"sh", "-c", "echo the reason >&2"}
	_, err := Start(context.Background(), Options{Command: command, Stderr: io.Discard})
	if err == nil || !strings.HasSuffix(err.Error(), ": the reason") {
		t.Fatalf("the error is %v", err)
	}
	if _, err = Start(context.Background(), Options{Command: []string{"no-such-program"}}); err == nil {
		t.Fatal("Start succeeded")
	}
}

func checkEnded(t *testing.T, pids string) {
	t.Helper()
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if process, err := os.FindProcess(pid); err == nil && process.Signal(syscall.Signal(0)) == nil {
		t.Fatalf("process %d is still running", pid)
	}
}
