/**
 * docs/reference/admission-plugins.md: the plugins in the order in which they run. What each does
 * is said here; the rest is the server's table.
 */
import { parseAdmissionPlugins, pluginOrder } from '../../src/config/admission-plugins.ts'
import { code, type Page, page, table } from './markdown.ts'

const purposes: Readonly<Record<string, string>> = {
  AlwaysAdmit: 'Nothing. Deprecated.',
  AlwaysDeny: 'Refuses every write. Deprecated; for tests.',
  AlwaysPullImages:
    'Sets the pull policy of containers to Always, so that a pod needs the credentials of its images.',
  CertificateApproval:
    'Who approves or denies a request for a certificate needs `approve` on its signer.',
  CertificateSigning: 'Who signs one needs `sign` on its signer.',
  CertificateSubjectRestriction:
    'Refuses client certificates of kube-apiserver-client for the group system:masters.',
  ClusterTrustBundleAttest:
    'Who writes a ClusterTrustBundle of a signer needs `attest` on that signer.',
  DefaultIngressClass: 'Gives an Ingress without a class the default one.',
  DefaultStorageClass: 'Gives a PersistentVolumeClaim without a class the default one.',
  DefaultTolerationSeconds:
    'Lets pods stay for five minutes on a node that is not ready or unreachable, or as long as flags say.',
  DenyServiceExternalIPs: 'Refuses new `externalIPs` of Services.',
  EventRateLimit:
    'Limits how many Events are taken: of the server, a namespace, a user, or a source and object.',
  ExtendedResourceToleration:
    'Lets pods that ask for an extended resource onto nodes tainted with its name.',
  ImagePolicyWebhook: 'Asks a server outside whether the images of a pod may run.',
  LimitPodHardAntiAffinityTopology: 'Refuses required anti-affinity by anything but the host name.',
  LimitRanger:
    'Gives the defaults of LimitRanges to pods, and refuses what is outside their limits.',
  MutatingAdmissionPolicy: 'Changes objects by expressions in CEL (behind its gate).',
  MutatingAdmissionWebhook: 'Asks webhooks, one after the other, how to change an object.',
  NamespaceAutoProvision: 'Creates the namespace of a new object if there is none.',
  NamespaceExists: 'Refuses every write to a namespace that does not exist.',
  NamespaceLifecycle:
    'Refuses new objects in a namespace that does not exist or is being deleted, and the deletion of default, kube-system and kube-public.',
  NodeRestriction: 'Restricts a kubelet to its own Node and the pods on it.',
  OwnerReferencesPermissionEnforcement:
    'Who changes the owners of an object needs the right to delete it; who sets `blockOwnerDeletion`, the right to update the finalizers of that owner.',
  PersistentVolumeClaimResize: 'Lets claims grow only where their class allows it.',
  PodNodeSelector: 'Gives pods the node selector of their namespace, and refuses others.',
  PodSecurity: 'Enforces the Pod Security Standards by labels of the namespace.',
  PodTolerationRestriction:
    'Gives pods the tolerations of their namespace, and refuses those that it does not allow.',
  PodTopologyLabels: 'Copies labels of a node (region, zone) to pods that are bound to it.',
  Priority: 'Sets the priority of a pod from its PriorityClass.',
  ResourceQuota: 'Refuses what would exceed a quota of the namespace.',
  RuntimeClass: 'Sets overhead and scheduling of a pod from its RuntimeClass.',
  ServiceAccount: 'Gives pods a service account and its token.',
  StorageObjectInUseProtection:
    'Adds finalizers to claims and volumes, so that they stay while they are used.',
  TaintNodesByCondition: 'Taints new nodes as not ready.',
  ValidatingAdmissionPolicy: 'Refuses objects by expressions in CEL.',
  ValidatingAdmissionWebhook: 'Asks webhooks, all at once, whether an object may be written.',
}

export function pluginsPage(): Page {
  const none = { enabled: undefined, disabled: undefined, exactly: undefined }
  const { plugins } = parseAdmissionPlugins(none)
  const unexplained = pluginOrder.filter((name) => purposes[name] === undefined)
  const gone = Object.keys(purposes).filter((name) => !pluginOrder.includes(name))
  if (unexplained.length + gone.length > 0)
    throw new Error(
      `plugins without a purpose: ${unexplained.join(', ')}; not there any more: ${gone.join(', ')}`,
    )
  return page(
    'admission-plugins.md',
    'Admission plugins',
    'In the order in which they run, which no flag changes. `--enable-admission-plugins` and `--disable-admission-plugins` choose among them; [admission.md](../admission.md) says how policies and webhooks behave.',
    table(
      ['plugin', 'default', 'what it does'],
      pluginOrder.map((name) => [
        code(name),
        plugins.isOn(name) ? 'on' : 'off',
        purposes[name] ?? '',
      ]),
    ),
  )
}
