// Package cases runs ../cases.json with the Go library, as another module uses it.
package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	keelson "github.com/keelson/keelson/clients/go"
)

type testCase struct {
	Name       string
	Start      *startOptions
	StartError string
	Steps      []json.RawMessage
}

type startOptions struct {
	Controllers []string
	Now         time.Time
	Flags       []string
}

// step is one step of a case. Its fields are the arguments of all kinds of steps.
type step struct {
	Call, On, As, Error                         string
	Fault, Snapshot                             string
	Method, Path, ContentType, RetryAfter, What string
	Body, Expect                                any
	User                                        *keelson.User
	Status, AtLeastMs, TimeoutMs                int
	Breaks                                      bool
	Events, Count, Seconds                      int
	NotBefore, Before                           time.Time
	Match                                       match
	Effect                                      map[string]json.RawMessage
	Folder, Text                                string
	Objects                                     []any
	Names                                       []string
	Filter                                      keelson.HistoryFilter
	Writes, Entries                             []any
}

type match struct {
	Verbs                     []string
	Resource, Namespace, Name string
	After, Times              int
}

type state struct {
	clusters  map[string]*keelson.Cluster
	faults    map[string]*keelson.Fault
	snapshots map[string]*keelson.Snapshot
}

func TestCases(t *testing.T) {
	text, err := os.ReadFile("../cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	shared := keelson.StartForTest(t, keelson.Options{})
	for _, one := range cases {
		t.Run(one.Name, func(t *testing.T) { runCase(t, one, shared) })
	}
}

func runCase(t *testing.T, one testCase, shared *keelson.Cluster) {
	var cluster *keelson.Cluster
	if one.Start == nil {
		cluster = shared.ForkForTest(t)
	} else {
		options := keelson.Options{
			Controllers: one.Start.Controllers, Now: one.Start.Now, Flags: one.Start.Flags,
		}
		if one.StartError != "" {
			options.Stderr = io.Discard
			_, err := keelson.Start(context.Background(), options)
			checkError(t, err, one.StartError)
			return
		}
		cluster = keelson.StartForTest(t, options)
	}
	state := state{
		clusters:  map[string]*keelson.Cluster{"cluster": cluster},
		faults:    map[string]*keelson.Fault{},
		snapshots: map[string]*keelson.Snapshot{},
	}
	for _, raw := range one.Steps {
		var each step
		if err := json.Unmarshal(raw, &each); err != nil {
			t.Fatal(err)
		}
		err := state.perform(context.Background(), each)
		if each.Error != "" {
			checkError(t, err, each.Error)
		} else if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
	}
}

func checkError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Fatalf("the error is %v, which does not contain %q", err, part)
	}
}

func (s *state) perform(ctx context.Context, step step) error {
	name := step.On
	if name == "" {
		name = "cluster"
	}
	cluster := s.clusters[name]
	var err error
	switch step.Call {
	case "request", "send":
		return request(ctx, cluster, step)
	case "watch":
		return watch(ctx, cluster, step)
	case "fault":
		s.faults[step.As], err = cluster.Fault(ctx, keelson.Match(step.Match), effectOf(step.Effect))
		return err
	case "hits":
		hits, err := s.faults[step.Fault].Hits(ctx)
		return errors.Join(err, equal("hits", hits, step.Count))
	case "off":
		return s.faults[step.Fault].Off(ctx)
	case "clearFaults":
		return cluster.ClearFaults(ctx)
	case "fork":
		// The test does not have to stop the fork. It stops together with the cluster from which it was
		// forked.
		s.clusters[step.As], err = cluster.Fork(ctx)
		return err
	case "stop":
		return cluster.Stop()
	case "snapshot":
		s.snapshots[step.As], err = cluster.Snapshot(ctx)
		return err
	case "restore":
		return s.snapshots[step.Snapshot].Restore(ctx)
	case "deleteSnapshot":
		return s.snapshots[step.Snapshot].Delete(ctx)
	default:
		return performOther(ctx, cluster, step)
	}
}

func performOther(ctx context.Context, cluster *keelson.Cluster, step step) error {
	switch step.Call {
	case "reset":
		return cluster.Reset(ctx)
	case "advance":
		_, err := cluster.AdvanceClock(ctx, time.Duration(step.Seconds)*time.Second)
		return err
	case "clock":
		now, err := cluster.Now(ctx)
		if err == nil && (now.Before(step.NotBefore) || !now.Before(step.Before)) {
			err = fmt.Errorf("the time is %s", now)
		}
		return err
	case "kubeconfig":
		return kubeconfig(ctx, cluster, *step.User)
	case "apply":
		return apply(ctx, cluster, step)
	case "waitFor":
		if step.TimeoutMs != 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Duration(step.TimeoutMs)*time.Millisecond)
			defer cancel()
		}
		return cluster.WaitFor(ctx, step.What, func(ctx context.Context) (bool, error) {
			response, err := cluster.Request(ctx, keelson.Request{Path: step.Path})
			return err == nil && response.Status == step.Status, err
		})
	case "history":
		writes, err := cluster.History(ctx, step.Filter)
		if err != nil {
			return err
		}
		return includes(plain(writes), step.Writes)
	case "timeline":
		entries, err := cluster.Timeline(ctx, step.Filter)
		if err != nil {
			return err
		}
		return includes(plain(entries), step.Entries)
	default:
		return fmt.Errorf("the call %s is unknown", step.Call)
	}
}

func request(ctx context.Context, cluster *keelson.Cluster, step step) error {
	began := time.Now()
	call := cluster.Request
	if step.Call == "send" {
		call = cluster.Send
	}
	response, err := call(ctx, keelson.Request{
		Method: step.Method, Path: step.Path, Body: step.Body, ContentType: step.ContentType,
		User: step.User,
	})
	if step.Breaks {
		if err == nil {
			return fmt.Errorf("the connection did not break, and the status is %d", response.Status)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if time.Since(began) < time.Duration(step.AtLeastMs)*time.Millisecond {
		return errors.New("the response came too early")
	}
	if step.RetryAfter != "" {
		err = equal("Retry-After", response.Header.Get("Retry-After"), step.RetryAfter)
	}
	err = errors.Join(err, equal("status", response.Status, step.Status))
	if step.Expect != nil {
		var body any
		err = errors.Join(err, response.Decode(&body), includes(body, step.Expect))
	}
	return err
}

func watch(ctx context.Context, cluster *keelson.Cluster, step step) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, cluster.URL+step.Path, nil)
	if err != nil {
		return err
	}
	response, err := cluster.HTTPClient().Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	events, err := io.ReadAll(response.Body)
	return errors.Join(err, equal("events", strings.Count(string(events), "\n"), step.Events))
}

func effectOf(effect map[string]json.RawMessage) keelson.Effect {
	for kind, value := range effect {
		switch kind {
		case "status":
			return decoded[keelson.Fail](plain(effect))
		case "conflict":
			return keelson.Conflict{}
		case "delayMs":
			return keelson.Delay(decoded[time.Duration](value) * time.Millisecond)
		case "dropConnection":
			return keelson.DropConnection{AfterRequest: decoded[string](value) == "after"}
		case "closeWatch":
			if string(value) == "true" {
				return keelson.CloseWatch{}
			}
			return decoded[keelson.CloseWatch](value)
		case "staleRead":
			return keelson.StaleRead{}
		}
	}
	return nil
}

func kubeconfig(ctx context.Context, cluster *keelson.Cluster, user keelson.User) error {
	kubeconfig, err := cluster.KubeconfigFor(ctx, user)
	if err != nil {
		return err
	}
	wanted := map[string]any{"users": []any{map[string]any{"name": user.Name}}}
	return includes(decoded[any](json.RawMessage(kubeconfig)), wanted)
}

func apply(ctx context.Context, cluster *keelson.Cluster, step step) error {
	var objects []json.RawMessage
	var err error
	switch {
	case step.Folder != "":
		objects, err = cluster.Apply(ctx, filepath.Join("..", step.Folder))
	case step.Text != "":
		objects, err = cluster.ApplyText(ctx, step.Text)
	default:
		objects, err = cluster.ApplyObjects(ctx, step.Objects...)
	}
	if err != nil {
		return err
	}
	names := []string{}
	for _, object := range objects {
		names = append(names, decoded[struct{ Metadata struct{ Name string } }](object).Metadata.Name)
	}
	return equal("names", names, step.Names)
}

func equal(what string, value, wanted any) error {
	if !reflect.DeepEqual(value, wanted) {
		return fmt.Errorf("%s: got %v, wanted %v", what, value, wanted)
	}
	return nil
}

// includes returns an error unless the value contains everything that part contains. Lists must
// have the same length.
func includes(value, part any) error {
	switch part := part.(type) {
	case map[string]any:
		members, _ := value.(map[string]any)
		for key, each := range part {
			if err := includes(members[key], each); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
		return nil
	case []any:
		items, _ := value.([]any)
		if len(items) != len(part) {
			return fmt.Errorf("got %d items, wanted %d: %v", len(items), len(part), value)
		}
		for at, each := range part {
			if err := includes(items[at], each); err != nil {
				return err
			}
		}
		return nil
	default:
		return equal("value", value, part)
	}
}

// plain returns the value as encoding/json decodes it into an any.
func plain(value any) any { return decoded[any](value) }

func decoded[T any](value any) T {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	var result T
	if err := json.Unmarshal(encoded, &result); err != nil {
		panic(err)
	}
	return result
}
