//go:build tools

// Package tools pins the version of konnectivity. Its proxy server and its agent tunnel connections
// into the network of a cluster.
package tools

import (
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/agent"
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/server"
)
