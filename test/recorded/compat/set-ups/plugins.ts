/** Set-ups with non-default admission plugins, and with the default ones turned off. */
import type { SetUps } from '../set-ups.ts'

const bundles = [
  '--runtime-config=certificates.k8s.io/v1beta1=true',
  '--feature-gates=ClusterTrustBundle=true,PodTopologyLabelsAdmission=true',
]

/** All plugins that are on by default, except ServiceAccount, which the usual flags turn off. */
const usual = `
  NamespaceLifecycle LimitRanger TaintNodesByCondition PodSecurity Priority DefaultTolerationSeconds DefaultStorageClass
  StorageObjectInUseProtection PersistentVolumeClaimResize RuntimeClass CertificateApproval CertificateSigning
  ClusterTrustBundleAttest CertificateSubjectRestriction DefaultIngressClass PodTopologyLabels MutatingAdmissionPolicy
  MutatingAdmissionWebhook ValidatingAdmissionPolicy ValidatingAdmissionWebhook ResourceQuota`
  .trim()
  .split(/\s+/)
  .join(',')

const forMetrics = [
  '--enable-admission-plugins=AlwaysAdmit,NodeRestriction,NamespaceExists,DenyServiceExternalIPs',
]

export const setUps: SetUps = {
  'plugins-pods': {
    flags: [
      '--enable-admission-plugins=AlwaysAdmit,AlwaysPullImages,ExtendedResourceToleration,LimitPodHardAntiAffinityTopology,DenyServiceExternalIPs',
      '--feature-gates=ImageVolume=true',
    ],
  },
  'plugins-deny': { flags: ['--enable-admission-plugins=AlwaysDeny'], isRestarted: true },
  'plugins-provision': { flags: ['--enable-admission-plugins=NamespaceAutoProvision'] },
  'plugins-exists': {
    flags: [
      '--enable-admission-plugins=NamespaceExists',
      '--disable-admission-plugins=NamespaceLifecycle',
    ],
  },
  'plugins-off': { flags: [`--disable-admission-plugins=${usual}`, ...bundles] },
  'plugins-gates': { flags: bundles },
  'plugins-metrics': { flags: forMetrics },
  // A separate server, because the rejections by its webhooks would also be counted in the metrics
  // of a shared server.
  'hooks-metrics': { flags: forMetrics },
  'plugins-accounts': { omit: ['disable-admission-plugins'], flags: [] },
  'plugins-tolerations': {
    flags: [
      '--default-not-ready-toleration-seconds=60',
      '--default-unreachable-toleration-seconds=-5',
    ],
  },
  'plugins-no-lifecycle': { flags: ['--disable-admission-plugins=NamespaceLifecycle'] },
  'hooks-routing': { flags: ['--enable-aggregator-routing=true'] },
  'plugins-old': {
    omit: ['disable-admission-plugins'],
    flags: ['--admission-control=NamespaceLifecycle,AlwaysPullImages,Priority'],
  },
}
