/**
 * Descriptions of configuration, storage, nodes and namespaces. ../descriptions.ts explains the
 * format.
 */
export const clusterTexts = `
ConfigMap: Settings for pods to read, by name.
  data: Values as text. Keys are of letters, digits, -, _ and a dot.
  binaryData: Values that are not text, in base64. No key is in both.
  immutable: Whether it can no longer be changed, only deleted.

Secret: Small values that not everybody should see: passwords, keys, tokens.
  data: The values, in base64.
  stringData: Values as plain text, for writing only: they end up in data.
  type: What the values are for, for example kubernetes.io/tls. It cannot be changed.
  immutable: Whether it can no longer be changed, only deleted.

Namespace: A space for names, to which rights, quotas and policies are tied.

NamespaceSpec: What is wanted of a namespace.
  finalizers: What must be done before a deleted namespace is removed.

NamespaceStatus: What has become of a namespace.
  phase: Active, or Terminating: everything in it is being deleted.

Node: A machine that runs pods.

NodeSpec: What is wanted of a node.
  podCIDR: The range that its pods get their addresses from.
  podCIDRs: The ranges, one for each family of addresses.
  providerID: What the cloud provider calls it.
  unschedulable: Whether no new pods are placed on it. kubectl cordon sets it.
  taints: What keeps pods away that do not tolerate it.
  externalID: No longer used.
  configSource: No longer used.

Taint: Keeps pods away from a node unless they tolerate it.
  key: Its key.
  value: Its value.
  effect: NoSchedule keeps new pods away, PreferNoSchedule where there is another node, NoExecute ends those that run.
  timeAdded: Since when it is there.

NodeStatus: What has been found out about a node.
  capacity: What it has, by resource.
  allocatable: What of it pods can have.
  phase: No longer used.
  addresses: Its addresses and names.
  daemonEndpoints: Where its kubelet listens.
  nodeInfo: Its system and versions.
  images: Images that it has.
  volumesInUse: Volumes that pods on it use.
  volumesAttached: Volumes that are attached to it.
  runtimeHandlers: Ways to run containers that it has.
  features: What its container runtime can do.

NodeAddress: An address of a node.
  type: InternalIP, ExternalIP, Hostname, InternalDNS or ExternalDNS.
  address: The address.

NodeSystemInfo: The system and versions of a node.
  machineID: An identifier of the machine.
  systemUUID: An identifier of the hardware.
  bootID: An identifier that each start changes.
  kernelVersion: The version of the kernel.
  osImage: The operating system, for people.
  containerRuntimeVersion: The container runtime and its version.
  kubeletVersion: The version of the kubelet.
  kubeProxyVersion: No longer used.
  operatingSystem: The operating system, for example linux.
  architecture: The processor, for example amd64.
  swap: Its swap space.

PersistentVolumeClaim: Asks for storage that outlives pods. It is bound to a PersistentVolume.

PersistentVolumeClaimSpec: The storage that is wanted.
  accessModes: How it is to be used: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.
  selector: Labels of the volumes that may be taken.
  resources: How much storage; requests may grow later.
  volumeName: The volume that it is bound to.
  storageClassName: The StorageClass that makes the volume; the default one if nothing is said, none if it is empty.
  volumeMode: Filesystem (the default) or Block.
  dataSource: What the volume is filled from: a snapshot or another claim.
  dataSourceRef: The same for any kind of object.
  volumeAttributesClassName: The class of attributes that the driver gives the volume.

PersistentVolumeClaimStatus: What has become of a claim.
  phase: Pending, Bound, or Lost: its volume is gone.
  accessModes: How the volume can be used.
  capacity: How much storage there is.
  allocatedResources: How much storage was last asked for.
  allocatedResourceStatuses: How far a change of size has come.
  currentVolumeAttributesClassName: The class of attributes that the volume has.
  modifyVolumeStatus: How far a change of attributes has come.

ServiceAccount: What programs in pods are known as to the server.
  secrets: Secrets that pods of the account may use. Tokens are no longer kept there.
  imagePullSecrets: Secrets with credentials for registries, which pods of the account get.
  automountServiceAccountToken: Whether pods of the account find a token; pods may say otherwise.

PersistentVolumeClaimTemplate: A claim that is made for a pod.
  metadata: Labels and annotations that the claim gets.
  spec: The storage that is wanted.
`
