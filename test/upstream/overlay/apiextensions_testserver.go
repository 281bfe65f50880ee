// Replaces k8s.io/apiextensions-apiserver/pkg/cmd/server/testing/testserver.go. It declares the
// same names, but starts the server as a separate process (see ../extserver). The server is a whole
// API server instead of one that serves only custom resources.
package testing

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	extensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	restclient "k8s.io/client-go/rest"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	logsapi "k8s.io/component-base/logs/api/v1"

	"keelson.test/upstream/extserver"
)

func init() { logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged }

type TearDownFunc func()

type TestServerInstanceOptions struct{}

type TestServer struct {
	ClientConfig *restclient.Config
	ServerOpts   *options.CustomResourceDefinitionsServerOptions
	TearDownFn   TearDownFunc
	TmpDir       string
	// CompletedConfig stays empty, because the server does not run in this process.
	CompletedConfig extensionsapiserver.CompletedConfig
}

type Logger interface {
	Errorf(format string, args ...interface{})
	Fatalf(format string, args ...interface{})
	Logf(format string, args ...interface{})
}

func NewDefaultTestServerOptions() *TestServerInstanceOptions { return &TestServerInstanceOptions{} }

func StartTestServerOrDie(t Logger, instance *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) *TestServer {
	server, err := StartTestServer(t, instance, flags, storage)
	if err != nil {
		t.Fatalf("failed to launch server: %v", err)
	}
	return &server
}

func StartTestServer(t Logger, _ *TestServerInstanceOptions, customFlags []string, storage *storagebackend.Config) (result TestServer, err error) {
	if result.TmpDir, err = os.MkdirTemp("", "extserver-"); err != nil {
		return result, err
	}
	dir := result.TmpDir
	gates, err := extserver.NewGates()
	if err != nil {
		return result, err
	}
	opts := options.NewCustomResourceDefinitionsServerOptions(os.Stdout, os.Stderr)
	opts.ServerRunOptions.ComponentGlobalsRegistry = gates.Registry
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	opts.AddFlags(set)
	if storage != nil {
		opts.RecommendedOptions.Etcd.StorageConfig = *storage
	}
	custom, err := extserver.Parse(set, customFlags)
	if err != nil {
		return result, err
	}

	flags := &extserver.Flags{}
	config := opts.RecommendedOptions.Etcd.StorageConfig
	flags.Set("etcd-servers", strings.Join(config.Transport.ServerList, ","))
	flags.Set("etcd-prefix", config.Prefix)
	flags.Set("authorization-mode", "AlwaysAllow")
	flags.Set("service-cluster-ip-range", "10.0.0.0/16")
	flags.Set("endpoint-reconciler-type", "none")
	if ip, err := utilnet.ChooseHostInterface(); err == nil {
		flags.Set("advertise-address", ip.String())
	}
	key, _, err := extserver.ServiceAccountKey(dir)
	if err != nil {
		return result, err
	}
	flags.Set("service-account-issuer", "https://foo.bar.example.com")
	flags.Set("service-account-signing-key-file", key)
	flags.Set("service-account-key-file", filepath.Join(dir, "service-account.pub"))
	flags.Merge(custom)
	for _, name := range []string{"authentication-skip-lookup", "authentication-kubeconfig", "authorization-kubeconfig", "kubeconfig"} {
		flags.Remove(name)
	}
	name := "apiextensions"
	if named, ok := t.(interface{ Name() string }); ok {
		name = named.Name()
	}
	if tb, ok := t.(featuregatetesting.TB); ok {
		if err := gates.Apply(tb, flags); err != nil {
			return result, err
		}
	}

	server, err := extserver.Start(t.Logf, extserver.Options{Name: name, Dir: dir, Flags: flags, Namespaces: []string{"default"}})
	if err != nil {
		os.RemoveAll(dir)
		return result, err
	}
	if tb, ok := t.(interface{ Cleanup(func()) }); ok {
		tb.Cleanup(server.Stop)
	}
	result.ServerOpts = opts
	result.ClientConfig = &restclient.Config{
		Host: server.Host, BearerToken: server.Token, QPS: -1,
		TLSClientConfig: restclient.TLSClientConfig{CAData: server.CA, Insecure: server.CA == nil},
	}
	result.TearDownFn = func() {
		server.Stop()
		os.RemoveAll(dir)
	}
	return result, nil
}
