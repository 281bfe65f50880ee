//go:build tools

// Package tools pins Cluster API's core manager: CRDs with defaulting, validating and conversion webhooks.
package tools

import _ "sigs.k8s.io/cluster-api"
