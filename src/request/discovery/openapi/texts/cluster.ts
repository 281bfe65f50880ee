/**
 * Descriptions of configuration, storage, nodes and namespaces, in the format that
 * ../descriptions.ts explains.
 */
export const clusterTexts = `
ConfigMap: Configuration data for pods.
  data: The data as text. Keys consist of letters, digits, -, _ and dots.
  binaryData: Data that is not text, in base64. Keys must not occur in data as well.
  immutable: Whether the data can no longer be changed. The ConfigMap can still be deleted.

Secret: A small amount of confidential data, such as passwords, keys or tokens.
  data: The data, in base64.
  stringData: Data as plain text. It can only be written, and is merged into data.
  type: The purpose of the data, for example kubernetes.io/tls. It cannot be changed.
  immutable: Whether the data can no longer be changed. The Secret can still be deleted.

Namespace: A scope for names, permissions, quotas and policies.

NamespaceSpec: The desired state of a namespace.
  finalizers: Tasks that must be completed before a deleted namespace is removed.

NamespaceStatus: The observed state of a namespace.
  phase: Active, or Terminating while everything in the namespace is being deleted.

Node: A machine that runs pods.

NodeSpec: The desired state of a node.
  podCIDR: The range of IP addresses for pods on the node.
  podCIDRs: The ranges of IP addresses for pods on the node, one per IP family.
  providerID: The identifier of the node at its cloud provider.
  unschedulable: Whether the node accepts no new pods. kubectl cordon sets it.
  taints: The taints of the node. Pods that do not tolerate them are kept away.
  externalID: No longer used.
  configSource: No longer used.

Taint: Keeps pods away from a node unless they tolerate it.
  key: The key of the taint.
  value: The value of the taint.
  effect: NoSchedule rejects new pods, PreferNoSchedule avoids the node if there is another one, and NoExecute also evicts running pods.
  timeAdded: When the taint was added.

NodeStatus: The observed state of a node.
  capacity: The total resources of the node.
  allocatable: The resources of the node that are available for pods.
  phase: No longer used.
  addresses: The addresses of the node.
  daemonEndpoints: The endpoints of daemons on the node, such as the kubelet.
  nodeInfo: Information about the machine, and versions of its software.
  images: The container images on the node.
  volumesInUse: The attachable volumes that pods on the node use.
  volumesAttached: The volumes that are attached to the node.
  runtimeHandlers: The runtime handlers that the node supports.
  features: The features that the container runtime supports.

NodeAddress: An address of a node.
  type: InternalIP, ExternalIP, Hostname, InternalDNS or ExternalDNS.
  address: The address.

NodeSystemInfo: Information about a node's machine, and versions of its software.
  machineID: The identifier of the machine.
  systemUUID: The identifier of the hardware.
  bootID: An identifier that changes with each boot.
  kernelVersion: The version of the kernel.
  osImage: The name of the operating system, for people.
  containerRuntimeVersion: The name and version of the container runtime.
  kubeletVersion: The version of the kubelet.
  kubeProxyVersion: No longer used.
  operatingSystem: The operating system, for example linux.
  architecture: The processor architecture, for example amd64.
  swap: The swap space of the node.

PersistentVolumeClaim: A request for storage that outlives pods. It is bound to a PersistentVolume.

PersistentVolumeClaimSpec: The desired storage.
  accessModes: How the volume can be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.
  selector: Selects the volumes that may be bound.
  resources: The amount of storage. The request may be increased later.
  volumeName: The volume to which the claim is bound.
  storageClassName: The StorageClass that provisions the volume. If absent, the default class is used; if empty, no class.
  volumeMode: Filesystem (the default) or Block.
  dataSource: The source from which the volume is populated: a snapshot or another claim.
  dataSourceRef: The source from which the volume is populated, which may be an object of any kind.
  volumeAttributesClassName: The VolumeAttributesClass that sets attributes of the volume.

PersistentVolumeClaimStatus: The observed state of a claim.
  phase: Pending, Bound, or Lost if the volume no longer exists.
  accessModes: How the volume can be mounted.
  capacity: The amount of storage of the volume.
  allocatedResources: The amount of storage that was last requested.
  allocatedResourceStatuses: The progress of a resize.
  currentVolumeAttributesClassName: The VolumeAttributesClass that is in use.
  modifyVolumeStatus: The progress of a change of attributes.

ServiceAccount: An identity for programs in pods.
  secrets: Secrets that pods of the account may use. Tokens are no longer stored here.
  imagePullSecrets: Secrets with registry credentials, which are added to pods of the account.
  automountServiceAccountToken: Whether a token is mounted into pods of the account. Pods can override it.

PersistentVolumeClaimTemplate: A template for a claim that is created for a pod.
  metadata: Labels and annotations of the claim.
  spec: The desired storage.
`
