//go:build tools

// Package tools pins Prometheus and promtool, which scrape a server and check our rules.
package tools

import (
	_ "github.com/prometheus/prometheus/cmd/prometheus"
	_ "github.com/prometheus/prometheus/cmd/promtool"
)
