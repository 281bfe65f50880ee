package keelsontesting

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Match selects the client requests that a fault applies to. Empty fields match all requests.
type Match struct {
	// Verbs are one or more of get, list, watch, create, update, patch, delete and
	// deletecollection.
	Verbs []string `json:"verb,omitempty"`
	// Resource is the plural, with or without the group: "configmaps" or "deployments.apps". A
	// subresource is a separate resource: "pods/status". "pods/*" matches pods and all their
	// subresources.
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Name is the name of the object. For a create, it is the name in the body.
	Name string `json:"name,omitempty"`
	// After is the number of matching requests that are served normally before the fault applies.
	After int `json:"after,omitempty"`
	// Times is the number of requests that the fault applies to. If it is 0, the fault applies to
	// all further requests.
	Times int `json:"times,omitempty"`
}

// Effect is what a fault does: Fail, Conflict, Delay, DropConnection, CloseWatch or StaleRead.
type Effect interface {
	effect() any
}

// Fail rejects the request. The request has no effect.
type Fail struct {
	// Status is the HTTP status, from 400 to 599.
	Status int `json:"status"`
	// Message is the message of the Status object. If it is empty, the server sets one.
	Message string `json:"message,omitempty"`
	// Reason is the reason of the Status object. The default is the usual reason for the status.
	Reason string `json:"reason,omitempty"`
	// RetryAfterSeconds is the value of the Retry-After header. With 0, the header is not sent.
	RetryAfterSeconds int `json:"retryAfterSeconds,omitempty"`
}

// Conflict rejects updates, patches and deletes with 409, as if another client had changed the
// object since it was read.
type Conflict struct{}

// Delay delays the request.
type Delay time.Duration

// DropConnection closes the connection or, for HTTP/2, the stream.
type DropConnection struct {
	// AfterRequest executes the request first, so that the client does not receive the response.
	// Otherwise the request has no effect.
	AfterRequest bool
}

// CloseWatch ends open and new watches.
type CloseWatch struct {
	// AfterEvents is the number of further events after which each watch ends.
	AfterEvents int
}

// StaleRead serves reads from the state at the time when the fault was set.
type StaleRead struct{}

func (e Fail) effect() any   { return e }
func (Conflict) effect() any { return map[string]any{"conflict": true} }
func (e Delay) effect() any {
	return map[string]any{"delayMs": float64(e) / float64(time.Millisecond)}
}
func (e DropConnection) effect() any {
	when := "before"
	if e.AfterRequest {
		when = "after"
	}
	return map[string]any{"dropConnection": when}
}
func (e CloseWatch) effect() any {
	return map[string]any{"closeWatch": map[string]any{"afterEvents": e.AfterEvents}}
}
func (StaleRead) effect() any { return map[string]any{"staleRead": true} }

// Fault is a fault that was set.
type Fault struct {
	cluster *Cluster
	path    string
}

// Fault applies the effect to all matching requests of clients. It does not affect the controllers
// in the server, Request and Apply.
func (c *Cluster) Fault(ctx context.Context, match Match, effect Effect) (*Fault, error) {
	if effect == nil {
		return nil, fmt.Errorf("set a fault: the effect is nil")
	}
	body := map[string]any{"match": match, "effect": effect.effect()}
	var response struct{ ID string }
	if err := c.control(ctx, http.MethodPost, "faults", body, &response); err != nil {
		return nil, fmt.Errorf("set a fault: %w", err)
	}
	return &Fault{cluster: c, path: "faults/" + response.ID}, nil
}

// Hits returns the number of requests that the fault was applied to.
func (f *Fault) Hits(ctx context.Context) (int, error) {
	var response struct{ Hits int }
	if err := f.cluster.control(ctx, http.MethodGet, f.path, nil, &response); err != nil {
		return 0, fmt.Errorf("read the hits of a fault: %w", err)
	}
	return response.Hits, nil
}

// Off removes the fault.
func (f *Fault) Off(ctx context.Context) error {
	if err := f.cluster.control(ctx, http.MethodDelete, f.path, nil, nil); err != nil {
		return fmt.Errorf("remove a fault: %w", err)
	}
	return nil
}

// ClearFaults removes all faults.
func (c *Cluster) ClearFaults(ctx context.Context) error {
	if err := c.control(ctx, http.MethodDelete, "faults", nil, nil); err != nil {
		return fmt.Errorf("remove all faults: %w", err)
	}
	return nil
}
