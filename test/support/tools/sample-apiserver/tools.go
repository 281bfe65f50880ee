//go:build tools

// Package tools pins sample-apiserver, the example of an aggregated API server in Kubernetes.
package tools

import _ "k8s.io/sample-apiserver"
