/**
 * Generates docs/reference/admission-plugins.md: the plugins in the order in which they run. The
 * descriptions are in this file; everything else comes from the server's table of plugins.
 */
import { parseAdmissionPlugins, pluginOrder } from '../../src/config/admission-plugins.ts'
import { code, type Page, page, table } from './markdown.ts'

const purposes: Readonly<Record<string, string>> = {
  AlwaysAdmit: 'Admits every request. Deprecated, and without effect.',
  AlwaysDeny: 'Rejects every write. Deprecated, for tests.',
  AlwaysPullImages:
    'Sets the image pull policy of containers to Always, so that a pod cannot use a cached image without credentials for it.',
  CertificateApproval:
    'Requires the verb `approve` on the signer to approve or deny a CertificateSigningRequest.',
  CertificateSigning:
    'Requires the verb `sign` on the signer to set the certificate of a CertificateSigningRequest.',
  CertificateSubjectRestriction:
    'Rejects requests for certificates of the signer kubernetes.io/kube-apiserver-client with the group system:masters.',
  ClusterTrustBundleAttest:
    'Requires the verb `attest` on the signer to write a ClusterTrustBundle that names a signer.',
  DefaultIngressClass: 'Sets the default IngressClass on an Ingress that has no class.',
  DefaultStorageClass:
    'Sets the default StorageClass on a PersistentVolumeClaim that has no class.',
  DefaultTolerationSeconds:
    'Adds tolerations to pods, so that they stay on a node that is not ready or unreachable for five minutes. Flags can change this time.',
  DenyServiceExternalIPs: 'Rejects new values in `externalIPs` of Services.',
  EventRateLimit:
    'Limits the rate of Events, for the server or for each namespace, user, or source and object.',
  ExtendedResourceToleration:
    'Adds tolerations to pods that request extended resources, for nodes that are tainted with the names of these resources.',
  ImagePolicyWebhook: 'Calls a webhook that decides whether the images of a pod may run.',
  LimitPodHardAntiAffinityTopology:
    'Rejects pods with required anti-affinity whose topology key is not kubernetes.io/hostname.',
  LimitRanger:
    'Applies the defaults of LimitRanges to pods, and rejects objects that exceed their limits.',
  MutatingAdmissionPolicy:
    'Changes objects by the CEL expressions of policies. Requires the MutatingAdmissionPolicy feature gate.',
  MutatingAdmissionWebhook: 'Calls mutating webhooks one after another.',
  NamespaceAutoProvision: 'Creates the namespace of a new object if it does not exist.',
  NamespaceExists: 'Rejects every write to a namespace that does not exist.',
  NamespaceLifecycle:
    'Rejects new objects in a namespace that does not exist or is being deleted, and the deletion of the namespaces default, kube-system and kube-public.',
  NodeRestriction: 'Restricts kubelets to writes to their own Node and the pods on it.',
  OwnerReferencesPermissionEnforcement:
    'Requires the right to delete an object to change its owners, and the right to update the finalizers of an owner to set `blockOwnerDeletion`.',
  PersistentVolumeClaimResize:
    'Rejects the expansion of a PersistentVolumeClaim unless its StorageClass allows it.',
  PodNodeSelector:
    'Adds the node selector of the namespace to pods, and rejects pods whose node selector conflicts with it.',
  PodSecurity: 'Enforces the Pod Security Standards, as labels of the namespace define.',
  PodTolerationRestriction:
    'Adds the default tolerations of the namespace to pods, and rejects tolerations that the namespace does not allow.',
  PodTopologyLabels:
    'Copies topology labels (region, zone) of a node to pods that are bound to it.',
  Priority: 'Sets the priority of a pod from its PriorityClass.',
  ResourceQuota: 'Rejects requests that would exceed a ResourceQuota of the namespace.',
  RuntimeClass: 'Sets the overhead and the scheduling constraints of a pod from its RuntimeClass.',
  ServiceAccount: 'Sets the service account of pods, and mounts its token.',
  StorageObjectInUseProtection:
    'Adds finalizers to PersistentVolumeClaims and PersistentVolumes, so that they are not deleted while they are in use.',
  TaintNodesByCondition: 'Adds the taint node.kubernetes.io/not-ready to new nodes.',
  ValidatingAdmissionPolicy: 'Validates requests by the CEL expressions of policies.',
  ValidatingAdmissionWebhook: 'Calls validating webhooks in parallel.',
}

export function pluginsPage(): Page {
  const none = { enabled: undefined, disabled: undefined, exactly: undefined }
  const { plugins } = parseAdmissionPlugins(none)
  const unexplained = pluginOrder.filter((name) => purposes[name] === undefined)
  const gone = Object.keys(purposes).filter((name) => !pluginOrder.includes(name))
  if (unexplained.length + gone.length > 0)
    throw new Error(
      `plugins without a description: ${unexplained.join(', ')}; descriptions of plugins that do not exist: ${gone.join(', ')}`,
    )
  return page(
    'admission-plugins.md',
    'Admission plugins',
    `The admission plugins, in the order in which they run. The flags \`--enable-admission-plugins\` and
\`--disable-admission-plugins\` select plugins, but do not change their order.
[Admission](../admission.md) describes policies and webhooks.`,
    table(
      ['Plugin', 'Default', 'Description'],
      pluginOrder.map((name) => [
        code(name),
        plugins.isOn(name) ? 'on' : 'off',
        purposes[name] ?? '',
      ]),
    ),
  )
}
