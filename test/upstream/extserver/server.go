// Package extserver starts an API server as a separate process and stops it. The files of
// ../overlay use it to replace an API server inside the test's process.
//
// Environment variables:
//
//	KEELSON_SERVER         the command, words separated by spaces: ".../kube-apiserver" or
//	                       ".../keelson serve"
//	KEELSON_SERVER_LOGS    a folder for logs. If unset, a log is removed with its server
//	KEELSON_UNKNOWN_FLAGS  "refuse": pass flags that the server does not know, so that it fails to
//	                       start. Otherwise they are left out, and the test's log lists them.
package extserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	readyMax = 90 * time.Second
	stopMax  = 10 * time.Second
	// InProcess is the reason with which a test is skipped if it needs a server in its own process.
	InProcess = "needs in-process hooks"
)

// Logf is the method of testing.TB that this package needs.
type Logf func(format string, args ...any)

// Server is a running process.
type Server struct {
	Host  string
	Port  int
	Token string
	// CA is the PEM certificate with which clients verify the server.
	CA []byte

	command *exec.Cmd
	gone    chan struct{}
	log     string
	once    sync.Once
}

// Options are the options of Start.
type Options struct {
	Name  string // Name of the log.
	Dir   string // Folder for certificates and tokens, and for the log unless logs are kept.
	Flags *Flags
	// SkipHealthz makes Start wait only for the namespaces, not for /healthz.
	SkipHealthz bool
	// HealthzPath is the path of the health check. The default is /healthz.
	HealthzPath string
	// Namespaces must exist before the server counts as ready.
	Namespaces []string
}

// Start starts the server and returns when it is ready.
func Start(logf Logf, options Options) (*Server, error) {
	words := strings.Fields(os.Getenv("KEELSON_SERVER"))
	if len(words) == 0 {
		return nil, errors.New("KEELSON_SERVER is not set: the command that starts the API server under test")
	}
	flags := options.Flags
	server := &Server{}

	var err error
	if server.Port, err = freePort(); err != nil {
		return nil, err
	}
	if flags.Has("secure-port") {
		if server.Port, err = strconv.Atoi(flags.Get("secure-port")); err != nil {
			return nil, err
		}
	}
	server.Host = fmt.Sprintf("https://127.0.0.1:%d", server.Port)
	flags.Set("secure-port", strconv.Itoa(server.Port))
	if !flags.Has("bind-address") {
		flags.Set("bind-address", "127.0.0.1")
	}

	if flags.Has("tls-cert-file") {
		server.CA = nil // The test provides the certificate; its CA is unknown.
	} else if server.CA, err = servingCertificate(options.Dir); err != nil {
		return nil, err
	} else {
		flags.Set("cert-dir", options.Dir)
	}
	if server.Token, err = tokenFile(options.Dir, flags); err != nil {
		return nil, err
	}

	known, err := knownFlags(words)
	if err != nil {
		return nil, err
	}
	lenient := os.Getenv("KEELSON_UNKNOWN_FLAGS") != "refuse"
	var dropped []string
	for _, name := range append([]string{}, flags.names...) {
		if !known[name] && lenient {
			for _, value := range flags.values[name] {
				dropped = append(dropped, fmt.Sprintf("--%s=%s", name, value))
			}
			flags.Remove(name)
		}
	}

	server.log = filepath.Join(options.Dir, "server.log")
	if folder := os.Getenv("KEELSON_SERVER_LOGS"); folder != "" {
		name := regexp.MustCompile(`[^A-Za-z0-9_.-]+`).ReplaceAllString(options.Name, "_")
		server.log = filepath.Join(folder, fmt.Sprintf("%.80s-%d.log", name, server.Port))
	}
	for attempt := 0; ; attempt++ {
		if err := server.launch(logf, words, flags); err != nil {
			return nil, err
		}
		err := server.ready(options)
		if err == nil {
			break
		}
		tail := server.tail()
		server.Stop()
		refused := refusals(tail, flags)
		if !lenient || attempt == 5 || len(refused) == 0 {
			return nil, fmt.Errorf("extserver: %w: %s", err, tail)
		}
		dropped = append(dropped, refused...)
	}
	if len(dropped) > 0 {
		sort.Strings(dropped)
		logf("extserver: dropped %s", strings.Join(dropped, " "))
	}
	return server, nil
}

func (s *Server) launch(logf Logf, words []string, flags *Flags) error {
	args := append([]string{}, words[1:]...)
	for _, name := range flags.names {
		for _, value := range flags.values[name] {
			args = append(args, fmt.Sprintf("--%s=%s", name, value))
		}
	}
	log, err := os.Create(s.log)
	if err != nil {
		return err
	}
	defer log.Close() // The process has its own copy.
	s.command = exec.Command(words[0], args...)
	s.command.Stdout, s.command.Stderr = log, log
	s.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	logf("extserver: start %s %s", words[0], strings.Join(args, " "))
	if err := s.command.Start(); err != nil {
		return err
	}
	command, gone := s.command, make(chan struct{})
	s.gone = gone
	s.once = sync.Once{}
	go func() {
		_ = command.Wait()
		close(gone)
	}()
	return nil
}

func (s *Server) ready(options Options) error {
	paths := []string{}
	if !options.SkipHealthz {
		path := options.HealthzPath
		if path == "" {
			path = "/healthz"
		}
		paths = append(paths, path)
	}
	for _, name := range options.Namespaces {
		paths = append(paths, "/api/v1/namespaces/"+name)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // We started the process ourselves.
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	deadline := time.Now().Add(readyMax)
	answer := ""
	for _, path := range paths {
		for {
			select {
			case <-s.gone:
				return errors.New("the server ended")
			default:
			}
			ok := false
			if ok, answer = s.get(client, path); ok {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("not ready after %s: %s: %s", readyMax, path, answer)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return nil
}

func (s *Server) get(client *http.Client, path string) (bool, string) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.Host+path, nil)
	if err != nil {
		return false, err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+s.Token)
	response, err := client.Do(request)
	if err != nil {
		return false, err.Error()
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 2000))
	return response.StatusCode == http.StatusOK, fmt.Sprintf("%d %s", response.StatusCode, body)
}

// Stop stops the process and waits until it has exited.
func (s *Server) Stop() {
	s.once.Do(func() {
		_ = s.command.Process.Signal(syscall.SIGTERM)
		select {
		case <-s.gone:
		case <-time.After(stopMax):
			_ = s.command.Process.Kill()
			<-s.gone
		}
	})
}

func (s *Server) tail() string {
	text, _ := os.ReadFile(s.log)
	if len(text) > 1500 {
		text = text[len(text)-1500:]
	}
	return string(text)
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
