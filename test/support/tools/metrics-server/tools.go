//go:build tools

// Package tools pins metrics-server, the aggregated API server behind `kubectl top`.
package tools

import _ "sigs.k8s.io/metrics-server/cmd/metrics-server"
