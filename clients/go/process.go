package keelsontesting

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// startTimeout and stopTimeout are long enough for a CI machine that stalls for a while.
	startTimeout = 2 * time.Minute
	stopTimeout  = time.Minute
	// outputTimeout limits the wait for the output of child processes that outlive Keelson.
	outputTimeout = 5 * time.Second
	// tailBytesMax is the size of the output that an error contains.
	tailBytesMax = 4096
)

// process is the child process that runs Keelson. It ends when its standard input is closed, so it
// also ends if this process is killed.
type process struct {
	command *exec.Cmd
	stdin   io.Closer
	stop    func() error
}

// readiness is the line that Keelson prints when it is ready.
type readiness struct {
	// Kubeconfig is the path of a file.
	Kubeconfig string
	Version    string
}

func startProcess(ctx context.Context, options Options) (*process, readiness, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	arguments := argumentsOf(options)
	command := exec.Command(arguments[0], arguments[1:]...)
	command.WaitDelay = outputTimeout
	errorOutput := &tail{to: options.Stderr}
	if errorOutput.to == nil {
		errorOutput.to = os.Stderr
	}
	command.Stderr = errorOutput
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, readiness{}, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, readiness{}, err
	}
	if err := command.Start(); err != nil {
		return nil, readiness{}, fmt.Errorf("run %s: %w", strings.Join(arguments, " "), err)
	}
	started := &process{command: command, stdin: stdin}
	started.stop = sync.OnceValue(started.end)
	// A child that prints nothing is killed, which ends its output.
	disarm := context.AfterFunc(ctx, func() { killChild(started) })
	ready, err := readReadiness(stdout)
	if !disarm() {
		err = ctx.Err()
	}
	if err != nil {
		started.kill()
		if text := errorOutput.text(); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return nil, readiness{}, err
	}
	return started, ready, nil
}

func argumentsOf(options Options) []string {
	command := options.Command
	if len(command) == 0 {
		command = strings.Fields(os.Getenv("KEELSON"))
	}
	if len(command) == 0 {
		command = []string{"npx", "--no-install", "keelson"}
	}
	arguments := append(append([]string{}, command...), "serve", "--testing")
	if options.Kubernetes != "" {
		arguments = append(arguments, "--kubernetes="+options.Kubernetes)
	}
	if options.Controllers != nil {
		arguments = append(arguments, "--controllers="+strings.Join(options.Controllers, ","))
	}
	if !options.Now.IsZero() {
		arguments = append(arguments, "--testing-now="+options.Now.UTC().Format(time.RFC3339Nano))
	}
	return append(arguments, options.Flags...)
}

// readReadiness ignores other lines, because npx may print some first.
func readReadiness(stdout io.Reader) (readiness, error) {
	for lines := bufio.NewReader(stdout); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return readiness{}, errors.New("the server ended before it was ready")
		}
		var ready readiness
		if json.Unmarshal(line, &ready) == nil && ready.Kubeconfig != "" {
			return ready, nil
		}
	}
}

// end closes the standard input of the child, which ends it. It kills a child that takes too long.
func (p *process) end() error {
	if err := p.stdin.Close(); err != nil {
		return fmt.Errorf("stop Keelson: %w", err)
	}
	killer := time.AfterFunc(stopTimeout, func() { _ = p.command.Process.Kill() })
	err := p.command.Wait()
	if !killer.Stop() {
		return fmt.Errorf("stop Keelson: it did not stop within %s, and was killed", stopTimeout)
	}
	if err != nil {
		return fmt.Errorf("stop Keelson: %w", err)
	}
	return nil
}

// kill ends a child whose start failed.
func (p *process) kill() {
	killChild(p)
	_ = p.command.Wait()
}

// killChild kills the child process and closes its standard input. If the child is a program such
// as npx, closing the input ends the server that this program has started.
func killChild(p *process) {
	_ = p.stdin.Close()
	_ = p.command.Process.Kill()
}

// tail passes output on and keeps its end for an error.
type tail struct {
	to    io.Writer
	mutex sync.Mutex
	kept  []byte
}

func (t *tail) Write(output []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.kept = append(t.kept, output...)
	if over := len(t.kept) - tailBytesMax; over > 0 {
		t.kept = append([]byte{}, t.kept[over:]...)
	}
	return t.to.Write(output)
}

func (t *tail) text() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return strings.TrimSpace(string(t.kept))
}
