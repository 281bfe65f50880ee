package keelsontesting

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Request is a request to the API server.
type Request struct {
	// Method is the HTTP method. The default is GET.
	Method string
	// Path is the path with its query, such as "/api/v1/pods?limit=5".
	Path string
	// Body is sent as JSON. If it is nil, the request has no body.
	Body any
	// ContentType is the type of the body. The default is JSON or, for PATCH, a JSON merge patch.
	ContentType string
	// User sends the request. If it is nil, a member of system:masters sends it.
	User *User
}

// Response is the response to a request.
type Response struct {
	// Status is the HTTP status.
	Status int
	// Header contains the headers. It is empty for a response to Cluster.Request.
	Header http.Header
	// Body is JSON. A response to Cluster.Request that is not JSON is encoded as a JSON string.
	Body json.RawMessage
}

// Decode stores the body in the value that into points to.
func (r *Response) Decode(into any) error {
	if err := json.Unmarshal(r.Body, into); err != nil {
		return fmt.Errorf("decode a response with status %d: %w", r.Status, err)
	}
	return nil
}

// Request sends a request on behalf of the test, without faults. Any status is returned as a
// Response and not as an error.
func (c *Cluster) Request(ctx context.Context, request Request) (*Response, error) {
	body := map[string]any{"path": request.Path}
	if request.Method != "" {
		body["method"] = request.Method
	}
	if request.Body != nil {
		body["body"] = request.Body
	}
	if request.ContentType != "" {
		body["contentType"] = request.ContentType
	}
	if request.User != nil {
		body["user"] = request.User
	}
	response := &Response{Header: http.Header{}}
	if err := c.control(ctx, http.MethodPost, "requests", body, response); err != nil {
		return nil, fmt.Errorf("request %s: %w", request.Path, err)
	}
	return response, nil
}

// Send sends a request like a client, over the network, so that faults apply. Any status is
// returned as a Response and not as an error.
func (c *Cluster) Send(ctx context.Context, request Request) (*Response, error) {
	client := c.admin
	if request.User != nil {
		var err error
		if client, err = c.clientFor(ctx, *request.User); err != nil {
			return nil, err
		}
	}
	response, err := c.send(ctx, client, request)
	if err != nil {
		return nil, fmt.Errorf("send a request for %s: %w", request.Path, err)
	}
	return response, nil
}

// HTTPClient returns a client with the credentials of a member of system:masters, for requests that
// Send does not support, such as watches. It has no timeout.
func (c *Cluster) HTTPClient() *http.Client { return c.admin }

func (c *Cluster) clientFor(ctx context.Context, user User) (*http.Client, error) {
	key := user.Name + "\n" + strings.Join(user.Groups, "\n")
	c.mutex.Lock()
	client, isKnown := c.users[key]
	c.mutex.Unlock()
	if isKnown {
		return client, nil
	}
	kubeconfig, err := c.KubeconfigFor(ctx, user)
	if err != nil {
		return nil, err
	}
	if _, client, err = openKubeconfig(kubeconfig); err != nil {
		return nil, fmt.Errorf("read the kubeconfig for %s: %w", user.Name, err)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.users[key] = client
	return client, nil
}

func (c *Cluster) send(ctx context.Context, client *http.Client, from Request) (*Response, error) {
	if _, hasDeadline := ctx.Deadline(); !hasDeadline {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, requestTimeout)
		defer cancel()
	}
	method := from.Method
	if method == "" {
		method = http.MethodGet
	}
	var reader io.Reader
	if from.Body != nil {
		encoded, err := json.Marshal(from.Body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+from.Path, reader)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", contentTypeOf(from.ContentType, method))
	request.Header.Set("User-Agent", "keelson-testing-go/"+Version)
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return &Response{Status: response.StatusCode, Header: response.Header, Body: body}, nil
}

func contentTypeOf(given, method string) string {
	switch {
	case given != "":
		return given
	case method == http.MethodPatch:
		return "application/merge-patch+json"
	default:
		return "application/json"
	}
}

// control sends a request to control the server, and decodes the response into the result unless
// that is nil.
func (c *Cluster) control(ctx context.Context, method, path string, body, result any) error {
	request := Request{Method: method, Path: "/keelson/testing/" + path, Body: body}
	response, err := c.send(ctx, c.admin, request)
	if err != nil {
		return err
	}
	if response.Status >= http.StatusMultipleChoices {
		var status struct{ Message string }
		if err := json.Unmarshal(response.Body, &status); err != nil {
			status.Message = string(response.Body)
		}
		return &Error{Status: response.Status, Message: status.Message}
	}
	if result == nil {
		return nil
	}
	return response.Decode(result)
}

type kubeconfigFile struct {
	Clusters []struct {
		Cluster struct {
			Server    string
			Authority []byte `json:"certificate-authority-data"`
		}
	}
	Users []struct {
		User struct {
			Certificate []byte `json:"client-certificate-data"`
			Key         []byte `json:"client-key-data"`
		}
	}
}

// openKubeconfig returns the address in a kubeconfig and a client with its credentials. The
// kubeconfigs of Keelson are JSON with one cluster and one user.
func openKubeconfig(kubeconfig []byte) (string, *http.Client, error) {
	var parsed kubeconfigFile
	if err := json.Unmarshal(kubeconfig, &parsed); err != nil {
		return "", nil, err
	}
	if len(parsed.Clusters) == 0 || len(parsed.Users) == 0 {
		return "", nil, errors.New("it has no cluster or no user")
	}
	cluster, user := parsed.Clusters[0].Cluster, parsed.Users[0].User
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(cluster.Authority) {
		return "", nil, errors.New("it has no certificate authority")
	}
	pair, err := tls.X509KeyPair(user.Certificate, user.Key)
	if err != nil {
		return "", nil, err
	}
	// The server is local, so the proxies of the environment do not apply.
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{
			RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
		},
		ForceAttemptHTTP2: true,
	}
	return cluster.Server, &http.Client{Transport: transport}, nil
}
