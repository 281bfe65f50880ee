// Replaces k8s.io/kubernetes/cmd/kube-apiserver/app/testing/testserver.go. It declares the same
// names, but starts the server as a separate process (see ../extserver).
package testing

import (
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storageversion"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	testutil "k8s.io/kubernetes/test/utils"
	"k8s.io/kubernetes/test/utils/ktesting"

	"keelson.test/upstream/extserver"
)

func init() { logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged }

const issuer = "https://foo.bar.example.com"

type TearDownFunc func()

type TestServerInstanceOptions struct {
	SkipHealthzCheck       bool
	EnableCertAuth         bool
	StorageVersionWrapFunc func(storageversion.Manager) storageversion.Manager
	ProxyCA                *ProxyCA
	BinaryVersion          string
	RequestTimeout         time.Duration
}

type TestServer struct {
	ClientConfig      *restclient.Config
	ServerOpts        *options.ServerRunOptions
	TearDownFn        TearDownFunc
	TmpDir            string
	EtcdClient        *clientv3.Client
	EtcdStoragePrefix string
}

type Logger interface {
	Helper()
	Errorf(format string, args ...interface{})
	Fatalf(format string, args ...interface{})
	Logf(format string, args ...interface{})
	Cleanup(func())
}

type ProxyCA struct {
	ProxySigningCert *x509.Certificate
	ProxySigningKey  *rsa.PrivateKey
}

func NewDefaultTestServerOptions() *TestServerInstanceOptions {
	return &TestServerInstanceOptions{EnableCertAuth: true}
}

func StartTestServerOrDie(t testing.TB, instance *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) *TestServer {
	t.Helper()
	server, err := StartTestServer(t, instance, flags, storage)
	if err != nil {
		t.Fatalf("failed to launch server: %v", err)
	}
	return &server
}

func StartTestServer(t ktesting.TB, instance *TestServerInstanceOptions, customFlags []string, storage *storagebackend.Config) (result TestServer, err error) {
	t.Helper()
	if instance == nil {
		instance = NewDefaultTestServerOptions()
	}
	if instance.StorageVersionWrapFunc != nil {
		t.Skip(extserver.InProcess + ": StorageVersionWrapFunc")
	}
	if instance.BinaryVersion != "" {
		t.Skip(extserver.InProcess + ": BinaryVersion")
	}
	if result.TmpDir, err = os.MkdirTemp("", "extserver-"); err != nil {
		return result, err
	}
	dir := result.TmpDir
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()

	gates, err := extserver.NewGates()
	if err != nil {
		return result, err
	}
	opts := options.NewServerRunOptions()
	opts.GenericServerRunOptions.ComponentGlobalsRegistry = gates.Registry
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, fs := range opts.Flags().FlagSets {
		set.AddFlagSet(fs)
	}
	opts.Etcd.StorageConfig = *storage
	opts.SecureServing.ServerCert.CertDirectory = dir
	opts.ServiceClusterIPRanges = "10.0.0.0/16"
	custom, err := extserver.Parse(set, customFlags)
	if err != nil {
		return result, err
	}

	flags := &extserver.Flags{}
	storageFlags(flags, &opts.Etcd.StorageConfig)
	flags.Set("service-cluster-ip-range", "10.0.0.0/16")
	if ip, err := utilnet.ChooseHostInterface(); err == nil && opts.GenericServerRunOptions.AdvertiseAddress == nil {
		opts.GenericServerRunOptions.AdvertiseAddress = ip
		flags.Set("advertise-address", ip.String())
	}
	if instance.RequestTimeout > 0 {
		flags.Set("request-timeout", instance.RequestTimeout.String())
	}
	if instance.EnableCertAuth {
		if err := certificates(dir, instance.ProxyCA, flags, opts); err != nil {
			return result, err
		}
	}
	if !custom.Has("authorization-config") {
		flags.Set("authorization-mode", "AlwaysAllow")
	}
	flags.Merge(custom)
	key, _, err := extserver.ServiceAccountKey(dir)
	if err != nil {
		return result, err
	}
	opts.ServiceAccountSigningKeyFile = key
	opts.Authentication.ServiceAccounts.Issuers = []string{issuer}
	opts.Authentication.ServiceAccounts.KeyFiles = []string{key}
	flags.Set("service-account-issuer", issuer)
	flags.Set("service-account-signing-key-file", key)
	flags.Set("service-account-key-file", filepath.Join(dir, "service-account.pub"))
	if err := gates.Apply(t, flags); err != nil {
		return result, err
	}

	server, err := extserver.Start(t.Logf, extserver.Options{
		Name: t.Name(), Dir: dir, Flags: flags, SkipHealthz: instance.SkipHealthzCheck, Namespaces: []string{"default"},
	})
	if err != nil {
		return result, err
	}
	t.Cleanup(server.Stop)
	etcd, err := etcdClient(&opts.Etcd.StorageConfig.Transport)
	if err != nil {
		server.Stop()
		return result, err
	}

	opts.SecureServing.BindPort = server.Port
	opts.SecureServing.BindAddress = net.ParseIP("127.0.0.1")
	opts.SecureServing.ExternalAddress = net.ParseIP("127.0.0.1")
	if opts.SecureServing.ServerCert.CertKey.CertFile == "" {
		opts.SecureServing.ServerCert.CertKey.CertFile = filepath.Join(dir, "apiserver.crt")
		opts.SecureServing.ServerCert.CertKey.KeyFile = filepath.Join(dir, "apiserver.key")
	}
	result.ServerOpts = opts
	result.EtcdClient = etcd
	result.EtcdStoragePrefix = storage.Prefix
	result.ClientConfig = &restclient.Config{
		Host: server.Host, BearerToken: server.Token, QPS: 1000, Burst: 10000, DisableCompression: true,
		ContentConfig:   restclient.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"},
		TLSClientConfig: restclient.TLSClientConfig{CAData: server.CA, Insecure: server.CA == nil},
	}
	result.TearDownFn = func() {
		server.Stop()
		etcd.Close()
		os.RemoveAll(dir)
	}
	return result, nil
}

func storageFlags(flags *extserver.Flags, config *storagebackend.Config) {
	flags.Set("etcd-servers", strings.Join(config.Transport.ServerList, ","))
	flags.Set("etcd-prefix", config.Prefix)
	for name, value := range map[string]string{
		"etcd-cafile": config.Transport.TrustedCAFile, "etcd-certfile": config.Transport.CertFile, "etcd-keyfile": config.Transport.KeyFile,
	} {
		if value != "" {
			flags.Set(name, value)
		}
	}
	if interval := config.CompactionInterval; interval != storagebackend.DefaultCompactInterval {
		flags.Set("etcd-compaction-interval", interval.String())
	}
}

func etcdClient(config *storagebackend.TransportConfig) (*clientv3.Client, error) {
	info := transport.TLSInfo{CertFile: config.CertFile, KeyFile: config.KeyFile, TrustedCAFile: config.TrustedCAFile}
	tlsConfig, err := info.ClientConfig()
	if err != nil {
		return nil, err
	}
	return clientv3.New(clientv3.Config{Endpoints: config.ServerList, DialTimeout: 20 * time.Second, TLS: tlsConfig})
}

// certificates creates the CAs for clients and for front proxies, and the certificate with which
// the server identifies itself as a front proxy.
func certificates(dir string, proxyCA *ProxyCA, flags *extserver.Flags, opts *options.ServerRunOptions) error {
	if proxyCA == nil {
		ca, key, err := authority("front-proxy-ca")
		if err != nil {
			return err
		}
		proxyCA = &ProxyCA{ca, key}
	}
	clientCA, _, err := authority("client-ca")
	if err != nil {
		return err
	}
	key, err := testutil.NewPrivateKey()
	if err != nil {
		return err
	}
	identity, err := testutil.NewSignedCert(
		&cert.Config{CommonName: "misty", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
		key, proxyCA.ProxySigningCert, proxyCA.ProxySigningKey)
	if err != nil {
		return err
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		flag, name string
		content    []byte
	}{
		{"client-ca-file", "client-ca.crt", testutil.EncodeCertPEM(clientCA)},
		{"requestheader-client-ca-file", "proxy-ca.crt", testutil.EncodeCertPEM(proxyCA.ProxySigningCert)},
		{"proxy-client-cert-file", "misty-crt.crt", testutil.EncodeCertPEM(identity)},
		{"proxy-client-key-file", "misty-crt.key", keyPEM},
	} {
		path := filepath.Join(dir, file.name)
		if err := os.WriteFile(path, file.content, 0o600); err != nil {
			return fmt.Errorf("%s: %w", file.name, err)
		}
		flags.Set(file.flag, path)
	}
	flags.Set("requestheader-allowed-names", "ash,misty,brock")
	flags.Set("requestheader-username-headers", "X-Remote-User")
	flags.Set("requestheader-group-headers", "X-Remote-Group")
	flags.Set("requestheader-extra-headers-prefix", "X-Remote-Extra-")
	if opts.Authentication.ClientCert.ClientCA == "" {
		opts.Authentication.ClientCert.ClientCA = filepath.Join(dir, "client-ca.crt")
	}
	return nil
}

func authority(name string) (*x509.Certificate, *rsa.PrivateKey, error) {
	key, err := testutil.NewPrivateKey()
	if err != nil {
		return nil, nil, err
	}
	ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: name}, key)
	return ca, key, err
}
