package keelsontesting

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// explainedMax is the number of timeline entries that the error of WaitFor contains.
const explainedMax = 10

// HistoryFilter selects requests. Empty fields match all requests.
type HistoryFilter struct {
	Resource, Group, Namespace, Name string
	// User is the name of the user.
	User string
	Verb string
	// Source is "client", "test" or "server", as in RecordedRequest.
	Source string
	// After is a resourceVersion. It selects only later requests.
	After string
}

// RecordedRequest is the target and the sender of a recorded request.
type RecordedRequest struct {
	// Time is the time according to the clock of the cluster.
	Time time.Time `json:"time"`
	// Verb is the verb of the request. It is empty if no request made the change.
	Verb        string `json:"verb"`
	Group       string `json:"group"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	// Source is "client", "test" for Request, Apply and Restore, or "server" for the server itself
	// and its controllers.
	Source string `json:"source"`
	// User is the user of the request. It is nil if the user is not known.
	User      *User  `json:"user"`
	UserAgent string `json:"userAgent"`
	// FieldManager is the field manager of the request. If the request specifies none, it is the
	// default for the user agent.
	FieldManager string `json:"fieldManager"`
}

// Write is an entry of the history.
type Write struct {
	RecordedRequest
	// Operation is "create", "update" or "delete".
	Operation       string `json:"operation"`
	ResourceVersion string `json:"resourceVersion"`
	// Object is the object after the write. It is empty if the object was deleted.
	Object json.RawMessage `json:"object"`
	// Before is the object before the write. It is empty if the object was created.
	Before json.RawMessage `json:"before"`
	Owners []FieldOwner    `json:"owners"`
}

// FieldOwner lists the fields of an object that a manager owns.
type FieldOwner struct {
	Manager     string   `json:"manager"`
	Operation   string   `json:"operation"`
	Subresource string   `json:"subresource"`
	Fields      []string `json:"fields"`
}

// TimelineEntry is a write or a refused request.
type TimelineEntry struct {
	RecordedRequest
	// Operation is "create", "update", "delete" or "refused".
	Operation string `json:"operation"`
	// ResourceVersion is the resourceVersion of a write. It is empty for a refused request.
	ResourceVersion string `json:"resourceVersion"`
	// Changes are the fields that an update changed.
	Changes []FieldChange `json:"changes"`
	// Code is the HTTP status of a refused request.
	Code int `json:"code"`
	// Reason and Message are those of the response to a refused request.
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// FieldChange is a change of a field. Before or After is empty if the field did not exist then.
type FieldChange struct {
	Path   string          `json:"path"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// History returns the writes that match, the oldest first.
func (c *Cluster) History(ctx context.Context, filter HistoryFilter) ([]Write, error) {
	var response struct{ Writes []Write }
	path := "history?" + filter.query()
	if err := c.control(ctx, http.MethodGet, path, nil, &response); err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	return response.Writes, nil
}

// Timeline returns the writes and the refused requests that match, the oldest first.
func (c *Cluster) Timeline(ctx context.Context, filter HistoryFilter) ([]TimelineEntry, error) {
	var response struct{ Entries []TimelineEntry }
	path := "timeline?" + filter.query()
	if err := c.control(ctx, http.MethodGet, path, nil, &response); err != nil {
		return nil, fmt.Errorf("read the timeline: %w", err)
	}
	return response.Entries, nil
}

func (f HistoryFilter) query() string {
	query := url.Values{}
	for name, value := range map[string]string{
		"resource": f.Resource, "group": f.Group, "namespace": f.Namespace, "name": f.Name,
		"user": f.User, "verb": f.Verb, "source": f.Source, "after": f.After,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query.Encode()
}

// String describes the entry in one line.
func (e TimelineEntry) String() string {
	user := "unknown user"
	if e.User != nil {
		user = e.User.Name
	}
	target := strings.TrimPrefix(e.Namespace+"/"+e.Name, "/")
	line := fmt.Sprintf("%s %s %s %s %s",
		e.Time.UTC().Format("15:04:05.000"), user, e.Verb, e.Resource, target)
	if e.Operation == "refused" {
		return fmt.Sprintf("%s: refused with %d %s, %s", line, e.Code, e.Reason, e.Message)
	}
	var changes []string
	for _, change := range e.Changes {
		changes = append(changes, fmt.Sprintf("%s: %s -> %s", change.Path, change.Before, change.After))
	}
	if len(changes) > 0 {
		line += ": " + strings.Join(changes, ", ")
	}
	return line
}

// explain returns lines with the last entries of the timeline. Entries of the server itself seldom
// explain why a condition is not met.
func (c *Cluster) explain() string {
	entries, err := c.Timeline(context.Background(), HistoryFilter{})
	if err != nil {
		return ""
	}
	var lines []string
	for _, entry := range entries {
		if entry.Source != "server" {
			lines = append(lines, "\n    "+entry.String())
		}
	}
	if len(lines) == 0 {
		return ""
	}
	lines = lines[max(0, len(lines)-explainedMax):]
	return "\n  the last writes and refused requests:" + strings.Join(lines, "")
}
