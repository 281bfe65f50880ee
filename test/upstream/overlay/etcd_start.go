// Replaces a function of k8s.io/kubernetes/test/integration/etcd/server.go, which build.ts renames.
// It starts the server as a separate process (see ../extserver).
package etcd

import (
	"path"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/client/v3/namespace"

	apiextensionsclientset "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/runtime"
	cacheddiscovery "k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	clientset "k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/test/integration"
	"k8s.io/kubernetes/test/integration/framework"

	"keelson.test/upstream/extserver"
)

const extIssuer = "https://foo.bar.example.com"

func StartRealAPIServerOrDie(t *testing.T, modifications ...func(*options.ServerRunOptions)) *APIServer {
	t.Helper()
	dir := t.TempDir()
	gates, err := extserver.NewGates()
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := extserver.ServiceAccountKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	// Tests read keys from etcd directly, so each server needs its own prefix in etcd.
	prefix := path.Join("/", uuid.New().String())
	opts, defaults := options.NewServerRunOptions(), options.NewServerRunOptions()
	opts.GenericServerRunOptions.ComponentGlobalsRegistry = gates.Registry
	opts.SecureServing.ServerCert.CertDirectory = dir
	opts.ServiceAccountSigningKeyFile = key
	opts.Etcd.StorageConfig.Transport.ServerList = []string{framework.GetEtcdURL()}
	opts.Etcd.StorageConfig.Prefix = prefix + "/registry"
	opts.Etcd.DefaultStorageMediaType = runtime.ContentTypeJSON
	opts.ServiceClusterIPRanges = "10.0.0.0/24"
	opts.Authentication.APIAudiences = []string{extIssuer}
	opts.Authentication.ServiceAccounts.Issuers = []string{extIssuer}
	opts.Authentication.ServiceAccounts.KeyFiles = []string{filepath.Join(dir, "service-account.pub")}
	opts.Authorization.Modes = []string{"RBAC"}
	opts.Admission.GenericAdmission.DisablePlugins = []string{"ServiceAccount"}
	opts.APIEnablement.RuntimeConfig["api/all"] = "true"
	for _, modify := range modifications {
		modify(opts)
	}
	flags := extserver.Changed(extFlags(opts), extFlags(defaults))
	if err := gates.Apply(t, flags); err != nil {
		t.Fatal(err)
	}
	etcd, kv, err := integration.GetEtcdClients(opts.Etcd.StorageConfig.Transport)
	if err != nil {
		t.Fatal(err)
	}
	server, err := extserver.Start(t.Logf, extserver.Options{
		Name: t.Name(), Dir: dir, Flags: flags, Namespaces: []string{"default", "kube-system"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)

	config := &restclient.Config{
		Host: server.Host, BearerToken: server.Token, QPS: -1, DisableCompression: true,
		ContentConfig:   restclient.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"},
		TLSClientConfig: restclient.TLSClientConfig{CAData: server.CA},
		WarningHandler:  restclient.NoWarnings{},
	}
	kube := clientset.NewForConfigOrDie(config)
	CreateTestCRDs(t, apiextensionsclientset.NewForConfigOrDie(config), false, GetCustomResourceDefinitionData()...)
	_, resources, err := kube.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	return &APIServer{
		Client:    kube,
		Dynamic:   dynamic.NewForConfigOrDie(config),
		Config:    config,
		KV:        namespace.NewKV(kv, prefix),
		Mapper:    restmapper.NewDeferredDiscoveryRESTMapper(cacheddiscovery.NewMemCacheClient(kube.Discovery())),
		Resources: GetResources(t, resources),
		Cleanup: func() {
			server.Stop()
			etcd.Close()
		},
	}
}

func extFlags(opts *options.ServerRunOptions) *pflag.FlagSet {
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, fs := range opts.Flags().FlagSets {
		set.AddFlagSet(fs)
	}
	return set
}
