// Replaces k8s.io/kubernetes/test/integration/framework/test_server.go. It declares the same names,
// but starts the server as a separate process (see ../extserver). Changes that a test makes to the
// server's options or config are converted to flags. A test that adds its own code to the config is
// skipped.
package framework

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	client "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	"k8s.io/kubernetes/pkg/serviceaccount"
	"k8s.io/kubernetes/test/utils"

	"keelson.test/upstream/extserver"
)

type TestServerSetup struct {
	ModifyServerRunOptions func(*options.ServerRunOptions)
	ModifyServerConfig     func(*controlplane.Config)
}

type TearDownFunc func()

const extIssuer = "https://foo.bar.example.com"

func StartTestServer(ctx context.Context, t testing.TB, setup TestServerSetup) (client.Interface, *rest.Config, TearDownFunc) {
	t.Helper()
	dir, err := os.MkdirTemp("", "extserver-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	gates, err := extserver.NewGates()
	if err != nil {
		t.Fatal(err)
	}
	key, private, err := extserver.ServiceAccountKey(dir)
	if err != nil {
		t.Fatal(err)
	}

	opts := options.NewServerRunOptions()
	defaults := allFlags(options.NewServerRunOptions())
	opts.GenericServerRunOptions.ComponentGlobalsRegistry = gates.Registry
	opts.ServiceAccountSigningKeyFile = key
	opts.SecureServing.ServerCert.CertDirectory = dir
	opts.Etcd.StorageConfig.Prefix = path.Join("/", uuid.New().String(), "registry")
	opts.Etcd.StorageConfig.Transport.ServerList = []string{GetEtcdURL()}
	opts.ServiceClusterIPRanges = "10.0.0.0/24"
	headers := opts.Authentication.RequestHeader
	headers.UsernameHeaders = []string{"X-Remote-User"}
	headers.GroupHeaders = []string{"X-Remote-Group"}
	headers.ExtraHeaderPrefixes = []string{"X-Remote-Extra-"}
	headers.AllowedNames = []string{"kube-aggregator"}
	headers.ClientCAFile = extAuthority(t, dir, "front-proxy-ca")
	opts.Authentication.APIAudiences = []string{extIssuer}
	opts.Authentication.ServiceAccounts.Issuers = []string{extIssuer}
	opts.Authentication.ServiceAccounts.KeyFiles = []string{filepath.Join(dir, "service-account.pub")}
	opts.Authentication.ClientCert.ClientCA = extAuthority(t, dir, "client-ca")
	opts.Authorization.Modes = []string{"Node", "RBAC"}
	if setup.ModifyServerRunOptions != nil {
		setup.ModifyServerRunOptions(opts)
	}
	flags := extserver.Changed(allFlags(opts), defaults)
	if len(opts.Authorization.Modes) == 0 {
		flags.Set("authorization-mode", "AlwaysAllow")
	}
	if ip, err := utilnet.ChooseHostInterface(); err == nil && !flags.Has("advertise-address") {
		flags.Set("advertise-address", ip.String())
	}
	if setup.ModifyServerConfig != nil {
		modifyConfig(t, setup.ModifyServerConfig, opts, private, flags)
	}
	if err := gates.Apply(t, flags); err != nil {
		t.Fatal(err)
	}

	server, err := extserver.Start(t.Logf, extserver.Options{
		Name: t.Name(), Dir: dir, Flags: flags, Namespaces: []string{"default", "kube-system"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	config := &rest.Config{
		Host: server.Host, BearerToken: server.Token, QPS: -1, DisableCompression: true,
		ContentConfig:   rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"},
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(dir, "apiserver.crt")},
	}
	if server.CA == nil {
		config.TLSClientConfig = rest.TLSClientConfig{Insecure: true}
	}
	kube, err := client.NewForConfig(config)
	if err != nil {
		server.Stop()
		t.Fatal(err)
	}
	return kube, config, server.Stop
}

func allFlags(opts *options.ServerRunOptions) *pflag.FlagSet {
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, fs := range opts.Flags().FlagSets {
		set.AddFlagSet(fs)
	}
	return set
}

// modifyConfig calls the test's function that changes a server config. The server runs in another
// process and does not use this config, so the changes are converted to flags.
func modifyConfig(t testing.TB, modify func(*controlplane.Config), opts *options.ServerRunOptions, private any, flags *extserver.Flags) {
	t.Helper()
	issuer, err := serviceaccount.JWTTokenGenerator(opts.Authentication.ServiceAccounts.Issuers[0], private)
	if err != nil {
		t.Fatal(err)
	}
	generic := &genericapiserver.Config{LoopbackClientConfig: &rest.Config{BearerToken: "loopback"}}
	config := &controlplane.Config{ControlPlane: controlplaneapiserver.Config{
		Generic: generic,
		Extra:   controlplaneapiserver.Extra{ServiceAccountIssuer: issuer},
	}}
	func() {
		defer func() {
			if err := recover(); err != nil {
				t.Skipf("%s: ModifyServerConfig: %v", extserver.InProcess, err)
			}
		}()
		modify(config)
	}()
	reason := ""
	switch {
	case generic.Authentication.Authenticator != nil:
		reason = "Authenticator"
	case generic.Authorization.Authorizer != nil:
		reason = "Authorizer"
	case generic.AdmissionControl != nil:
		reason = "AdmissionControl"
	case generic.AuditBackend != nil || generic.AuditPolicyRuleEvaluator != nil:
		reason = "AuditBackend"
	case generic.OpenAPIConfig != nil || generic.OpenAPIV3Config != nil:
		reason = "OpenAPIConfig"
	case config.Extra.RepairServicesInterval != 0:
		reason = "RepairServicesInterval"
	}
	if reason != "" {
		t.Skipf("%s: ModifyServerConfig: %s", extserver.InProcess, reason)
	}
	if value := string(config.Extra.EndpointReconcilerType); value != "" {
		flags.Set("endpoint-reconciler-type", value)
	}
	if value := config.ControlPlane.Extra.ServiceAccountMaxExpiration; value != 0 {
		flags.Set("service-account-max-token-expiration", value.String())
	}
	if config.ControlPlane.Extra.ExtendExpiration {
		flags.Set("service-account-extend-token-expiration", "true")
	}
	if resources, ok := config.ControlPlane.Extra.APIResourceConfigSource.(*serverstorage.ResourceConfig); ok {
		enabled(resources, flags)
	}
}

// enabled converts versions and resources that differ from the defaults to --runtime-config.
func enabled(resources *serverstorage.ResourceConfig, flags *extserver.Flags) {
	defaults := controlplane.DefaultAPIResourceConfigSource()
	var settings []string
	for version, on := range resources.GroupVersionConfigs {
		if on != defaults.GroupVersionConfigs[version] {
			settings = append(settings, fmt.Sprintf("%s=%v", version, on))
		}
	}
	for resource, on := range resources.ResourceConfigs {
		if was, ok := defaults.ResourceConfigs[resource]; !ok || on != was {
			settings = append(settings, fmt.Sprintf("%s/%s=%v", resource.GroupVersion(), resource.Resource, on))
		}
	}
	if len(settings) > 0 {
		sort.Strings(settings)
		flags.Set("runtime-config", strings.Join(settings, ","))
	}
}

func extAuthority(t testing.TB, dir, name string) string {
	t.Helper()
	var ca *x509.Certificate
	var key *rsa.PrivateKey
	key, err := utils.NewPrivateKey()
	if err == nil {
		ca, err = cert.NewSelfSignedCACert(cert.Config{CommonName: name}, key)
	}
	file := filepath.Join(dir, name+".crt")
	if err == nil {
		err = os.WriteFile(file, utils.EncodeCertPEM(ca), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}
