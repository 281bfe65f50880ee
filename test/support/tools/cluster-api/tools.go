//go:build tools

// Package tools pins the core manager of Cluster API: CRDs with defaulting, validating and
// conversion webhooks.
package tools

import _ "sigs.k8s.io/cluster-api"
