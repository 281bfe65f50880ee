package keelsontesting

import (
	"context"
	"testing"
)

// StartForTest starts a cluster that stops when the test and its subtests end. If the cluster does
// not start or stop, the test fails.
func StartForTest(tb testing.TB, options Options) *Cluster {
	tb.Helper()
	cluster, err := Start(context.Background(), options)
	if err != nil {
		tb.Fatal(err)
	}
	stopAfter(tb, cluster)
	return cluster
}

// ForkForTest returns a fork that stops when the test and its subtests end. If the fork cannot be
// created or stopped, the test fails.
func (c *Cluster) ForkForTest(tb testing.TB) *Cluster {
	tb.Helper()
	fork, err := c.Fork(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	stopAfter(tb, fork)
	return fork
}

func stopAfter(tb testing.TB, cluster *Cluster) {
	tb.Helper()
	tb.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			tb.Error(err)
		}
	})
}
