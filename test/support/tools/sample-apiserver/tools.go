//go:build tools

// Package tools pins sample-apiserver, upstream's example of an aggregated API server.
package tools

import _ "k8s.io/sample-apiserver"
