//go:build tools

// Package tools pins the version of etcd 3.5 that the tests can run on.
package tools

import (
	_ "go.etcd.io/etcd/etcdctl/v3"
	_ "go.etcd.io/etcd/server/v3"
)
