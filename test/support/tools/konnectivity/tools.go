//go:build tools

// Package tools pins the proxy server and the agent of konnectivity, which tunnel connections to a
// cluster's network.
package tools

import (
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/agent"
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/server"
)
