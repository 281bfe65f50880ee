/**
 * Sources of the CustomResourceDefinitions: Go modules at exact versions, and the folders or files
 * in them.
 */

export type FieldPackage = {
  readonly module: string
  readonly version: string
  /**
   * Folders (without subfolders) or files in the module. If two of them define the same kind, the
   * first one is used.
   */
  readonly paths: readonly string[]
  /**
   * Folder of a Helm chart that contains CustomResourceDefinitions. They can be the same as those
   * in `paths`, or additional ones.
   */
  readonly chart?: string
}

export const fieldPackages: readonly FieldPackage[] = [
  { module: 'github.com/cert-manager/cert-manager', version: 'v1.21.2', paths: ['deploy/crds'] },
  {
    module: 'sigs.k8s.io/gateway-api',
    version: 'v1.6.3',
    paths: ['config/crd/experimental', 'config/crd/standard'],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.85.0',
    paths: ['example/prometheus-operator-crd-full'],
  },
  { module: 'github.com/argoproj/argo-rollouts', version: 'v1.10.1', paths: ['manifests/crds'] },
  { module: 'github.com/argoproj/argo-cd/v3', version: 'v3.5.6', paths: ['manifests/crds'] },
  {
    module: 'istio.io/api',
    version: 'v1.31.1',
    paths: ['kubernetes/customresourcedefinitions.gen.yaml'],
  },
  {
    module: 'sigs.k8s.io/cluster-api',
    version: 'v1.14.2',
    paths: [
      'core/config/crd/bases',
      'bootstrap/kubeadm/config/crd/bases',
      'controlplane/kubeadm/config/crd/bases',
      'cmd/clusterctl/config/crd/bases',
    ],
  },
  {
    module: 'sigs.k8s.io/cluster-api-provider-aws/v2',
    version: 'v2.13.0',
    paths: ['config/crd/bases'],
  },
  { module: 'github.com/fluxcd/source-controller', version: 'v1.9.6', paths: ['config/crd/bases'] },
  {
    module: 'github.com/fluxcd/kustomize-controller',
    version: 'v1.9.6',
    paths: ['config/crd/bases'],
  },
  { module: 'knative.dev/serving', version: 'v0.42.2', paths: ['config/core/300-resources'] },
  {
    module: 'github.com/kyverno/kyverno',
    version: 'v1.19.1',
    paths: [
      'config/crds/kyverno',
      'config/crds/policies.kyverno.io',
      'config/crds/policyreport',
      'config/crds/reports',
    ],
  },
  {
    module: 'github.com/vmware-tanzu/velero',
    version: 'v1.18.3',
    paths: ['config/crd/v1/bases', 'config/crd/v2alpha1/bases'],
  },
  {
    module: 'github.com/external-secrets/external-secrets',
    version: 'v1.3.2',
    paths: ['config/crds/bases'],
  },
  { module: 'github.com/kedacore/keda/v2', version: 'v2.21.0', paths: ['config/crd/bases'] },
  {
    module: 'github.com/traefik/traefik/v3',
    version: 'v3.7.13',
    paths: ['docs/content/reference/dynamic-configuration'],
  },
  {
    module: 'github.com/cilium/cilium',
    version: 'v1.20.2',
    paths: ['pkg/k8s/apis/cilium.io/client/crds/v2', 'pkg/k8s/apis/cilium.io/client/crds/v2alpha1'],
  },
  {
    module: 'github.com/projectcalico/calico',
    version: 'v1.11.0-cni-plugin.0.20250813170300-a0db560f0520',
    paths: ['libcalico-go/config/crd', 'charts/tigera-operator/crds'],
    chart: 'charts/tigera-operator',
  },
  {
    module: 'github.com/aws/karpenter-provider-aws',
    version: 'v1.14.1',
    paths: ['pkg/apis/crds'],
    chart: 'charts/karpenter-crd',
  },
  {
    module: 'github.com/dapr/dapr',
    version: 'v1.14.0',
    paths: ['charts/dapr/crds'],
    chart: 'charts/dapr',
  },
  {
    module: 'github.com/kubeflow/training-operator',
    version: 'v1.8.1',
    paths: ['manifests/base/crds'],
  },
  {
    module: 'github.com/elastic/cloud-on-k8s/v3',
    version: 'v3.5.0',
    paths: ['config/crds/v1/resources'],
  },
  {
    module: 'github.com/chaos-mesh/chaos-mesh',
    version: 'v0.9.1-0.20260902003049-47411975a8cb',
    paths: ['config/crd/bases'],
    chart: 'helm/chaos-mesh',
  },
  { module: 'sigs.k8s.io/network-policy-api', version: 'v0.1.1', paths: ['config/crd'] },
  {
    module: 'github.com/envoyproxy/gateway',
    version: 'v1.9.1',
    paths: ['charts/gateway-helm/charts/crds/crds/generated'],
  },
]
