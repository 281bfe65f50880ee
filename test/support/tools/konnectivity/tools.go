//go:build tools

// Package tools pins konnectivity's proxy server and agent, through which connections to a cluster's network go.
package tools

import (
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/agent"
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/server"
)
