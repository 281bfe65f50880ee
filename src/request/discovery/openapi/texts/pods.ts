/** Descriptions of pods and their parts. ../descriptions.ts explains the format. */
export const podTexts = `
Pod: Containers that run together on one node and share its network and volumes. Usually made by a Deployment, a Job or the like.

PodTemplateSpec: The pods that a workload makes.
  metadata: Labels and annotations that each pod gets.
  spec: What each pod is to be.

PodSpec: What a pod runs, where, and with what rights.
  volumes: Storage that its containers can mount.
  initContainers: Containers that run before the others, one after the other; each must end well. One that always restarts is a sidecar.
  containers: What the pod runs. There must be one at least, and the list cannot be changed later.
  ephemeralContainers: Containers added to a running pod to look into it. Only through the subresource of this name.
  restartPolicy: When containers that have ended are started again: Always (the default), OnFailure or Never.
  terminationGracePeriodSeconds: How long containers may take to end after they are told to; 30 if nothing is said. Then they are killed.
  activeDeadlineSeconds: How long the pod may run before it is ended and counted as failed.
  dnsPolicy: Where names are looked up: ClusterFirst (the default), ClusterFirstWithHostNet, Default (as the node does) or None.
  nodeSelector: Labels that a node must have for the pod to run there.
  serviceAccountName: The service account that the pod acts as; default if nothing is said.
  serviceAccount: The older name of serviceAccountName.
  automountServiceAccountToken: Whether containers find a token of the service account.
  nodeName: The node that the pod runs on. Set by the scheduler; who sets it passes the scheduler by.
  hostNetwork: Whether the pod uses the node's network.
  hostPID: Whether the pod sees the node's processes.
  hostIPC: Whether the pod uses the node's inter-process communication.
  shareProcessNamespace: Whether the containers of the pod see each other's processes.
  securityContext: Users, groups and other rights for all containers, where they do not say otherwise.
  imagePullSecrets: Secrets in the pod's namespace with credentials for the registries of its images.
  hostname: The host name inside of the pod; the pod's name if nothing is said.
  subdomain: With it, and a headless Service of this name, the pod has a DNS name of its own.
  affinity: Which nodes, and which pods nearby, the pod likes, needs or avoids.
  schedulerName: The scheduler that places the pod.
  tolerations: Taints of nodes that the pod puts up with.
  hostAliases: Further lines for the pod's hosts file.
  priorityClassName: The PriorityClass of the pod. Pods of higher priority come first, and may push others out.
  priority: The number that belongs to the class. Set by the server.
  dnsConfig: Name servers, search domains and options beside those of dnsPolicy.
  readinessGates: Further conditions that must be True for the pod to be ready.
  runtimeClassName: The RuntimeClass that says how its containers are run.
  enableServiceLinks: Whether containers have environment variables for the Services of the namespace.
  preemptionPolicy: Whether the pod may push out others of lower priority.
  overhead: What running the pod costs beside its containers. Set from the RuntimeClass.
  topologySpreadConstraints: How pods of a kind are spread over zones, nodes and the like.
  setHostnameAsFQDN: Whether the host name is the full DNS name.
  os: The operating system that its containers are made for.
  hostUsers: Whether the pod uses the node's user numbers; false gives it a range of its own.
  schedulingGates: While there are any, the pod is not scheduled.
  resourceClaims: Devices and the like that must be allocated for the pod.
  resources: What all containers of the pod may use together.

Container: One program with its image, and what it needs.
  name: The name of the container, which no other in the pod has. It cannot be changed.
  image: The image to run.
  command: What to run in place of the image's entry point. No shell is involved; $(NAME) is replaced by the variable of that name.
  args: Arguments in place of those of the image. $(NAME) is replaced by the variable of that name.
  workingDir: The directory to start in, if not the image's own.
  ports: Ports that it listens on. This is for information; other ports can be reached too.
  envFrom: ConfigMaps and Secrets all of whose keys become environment variables.
  env: Environment variables.
  resources: How much CPU, memory and the like it needs, and may use.
  resizePolicy: Whether it must be restarted when its resources are changed.
  restartPolicy: Of an init container only: Always makes it a sidecar that runs as long as the pod.
  volumeMounts: Where volumes of the pod appear in its file system.
  volumeDevices: Where volumes appear as block devices.
  livenessProbe: How to see that it still works. It is restarted when it does not.
  readinessProbe: How to see that it can take requests. Services leave it out while it cannot.
  startupProbe: How to see that it has started. The other probes wait for it.
  lifecycle: What to do right after it has started, and before it is ended.
  terminationMessagePath: The file from which its last words are read when it ends.
  terminationMessagePolicy: Where its last words come from: File, or FallbackToLogsOnError.
  imagePullPolicy: When the image is fetched: Always, IfNotPresent or Never. Always is the default for the tag latest.
  securityContext: Its user, capabilities and other rights. They win over those of the pod.
  stdin: Whether it has a standard input that can be attached to.
  stdinOnce: Whether standard input is closed after the first who attached has left.
  tty: Whether it has a terminal.

EphemeralContainer like Container: A container added to a running pod to look into it. It is never restarted and has no claim to resources.
  targetContainerName: The container whose processes it sees.

ContainerPort: A port that a container listens on.
  name: A name for the port, by which Services and probes can refer to it.
  containerPort: The number of the port, 1 to 65535.
  protocol: TCP (the default), UDP or SCTP.
  hostPort: A port of the node that leads here. Few pods need one.
  hostIP: The address of the node that hostPort is bound to.

EnvVar: An environment variable.
  name: Its name.
  value: Its value. $(NAME) is replaced by an earlier variable of that name; $$(NAME) stays as $(NAME).
  valueFrom: Where its value comes from, in place of value.

EnvVarSource: Where a value comes from; one of these.
  fieldRef: A field of the pod itself.
  resourceFieldRef: A limit or request of a container.
  configMapKeyRef: A key of a ConfigMap.
  secretKeyRef: A key of a Secret.

EnvFromSource: A ConfigMap or Secret whose keys become environment variables.
  prefix: What is put before each name.
  configMapRef: The ConfigMap.
  secretRef: The Secret.

ConfigMapKeySelector: A key of a ConfigMap in the same namespace.
  name: The ConfigMap.
  key: The key.
  optional: Whether it may be missing.

SecretKeySelector: A key of a Secret in the same namespace.
  name: The Secret.
  key: The key.
  optional: Whether it may be missing.

ObjectFieldSelector: A field of an object.
  fieldPath: The path of the field, for example metadata.name.
  apiVersion: The version of the API that the path is of; v1 if nothing is said.

Probe: A check of a container, done again and again. It has one of exec, httpGet, tcpSocket and grpc.
  exec: A command in the container that must end with 0.
  httpGet: A request that must be answered with a code from 200 to 399.
  tcpSocket: A port that must take a connection.
  grpc: A port that must answer the gRPC health check.
  initialDelaySeconds: How long to wait after the start before the first check.
  timeoutSeconds: How long one check may take; 1 if nothing is said.
  periodSeconds: How often to check; every 10 seconds if nothing is said.
  successThreshold: How many checks in a row must pass after a failure. For liveness and startup it is 1.
  failureThreshold: How many checks in a row must fail; 3 if nothing is said.
  terminationGracePeriodSeconds: How long the container may take to end when the check has failed, in place of the pod's own time.

ExecAction: A command to run in a container.
  command: The command and its arguments; no shell is involved.

HTTPGetAction: An HTTP request.
  path: The path of the URL.
  port: The port, by number or by name.
  host: The host to connect to, if not the pod itself.
  scheme: HTTP (the default) or HTTPS. Certificates are not verified.
  httpHeaders: Headers to send.

TCPSocketAction: A connection.
  port: The port, by number or by name.
  host: The host to connect to, if not the pod itself.

Lifecycle: What is done at the start and the end of a container.
  postStart: Done right after the start. If it fails the container is ended.
  preStop: Done before the container is told to end; its time counts against the grace period.
  stopSignal: The signal that tells the container to end.

ResourceRequirements: What something needs, and may use.
  limits: The most it may use, by resource: cpu, memory, ephemeral-storage and others.
  requests: What is set aside for it. The scheduler looks for a node with that much left. The limits if nothing is said.
  claims: The names of the pod's resource claims that it uses.

VolumeResourceRequirements: How much storage is wanted.
  limits: The most there may be.
  requests: The least there must be, as storage.

SecurityContext: The rights of a container.
  capabilities: Capabilities of Linux to add or to take away.
  privileged: Whether it is as good as root on the node. Avoid it.
  seLinuxOptions: Its SELinux context.
  windowsOptions: What applies on Windows.
  runAsUser: The number of the user to run as, if not the image's own.
  runAsGroup: The number of the primary group.
  runAsNonRoot: Whether it is refused if it would run as root.
  readOnlyRootFilesystem: Whether its own file system cannot be written.
  allowPrivilegeEscalation: Whether a process can gain more rights than its parent has.
  procMount: How much of /proc it sees.
  seccompProfile: Which system calls it may make.
  appArmorProfile: The AppArmor profile it runs under.

PodSecurityContext like SecurityContext: Rights of all containers of a pod, where they do not say otherwise.
  supplementalGroups: Further groups that processes are in.
  supplementalGroupsPolicy: Whether groups of the image count too.
  fsGroup: The group that volumes belong to, so that containers can write to them.
  fsGroupChangePolicy: Whether files of a volume get the group each time, or only when the top directory does not have it.
  sysctls: Kernel parameters of the pod.
  seLinuxChangePolicy: How volumes get the SELinux label of the pod.

Capabilities: Capabilities of Linux, without CAP_.
  add: Those to add.
  drop: Those to take away; ALL takes all.

Volume: Storage of a pod, which its containers mount. Beside a name it has one source.
  name: The name by which containers mount it.
  hostPath: A file or directory of the node. Few pods should have one.
  emptyDir: An empty directory that lasts as long as the pod.
  secret: The values of a Secret as files.
  configMap: The values of a ConfigMap as files.
  downwardAPI: Fields of the pod as files.
  projected: Several of secret, configMap, downwardAPI and tokens in one directory.
  persistentVolumeClaim: The volume that a PersistentVolumeClaim is bound to.
  ephemeral: A volume made for this pod by a claim of its own.
  csi: A volume of a CSI driver that lasts as long as the pod.
  nfs: A directory of an NFS server.
  iscsi: A disk over iSCSI.
  fc: A disk over Fibre Channel.
  image: The content of an image, for reading.

VolumeMount: Where a volume appears in a container.
  name: The volume.
  mountPath: The path in the container.
  readOnly: Whether it cannot be written there.
  recursiveReadOnly: Whether what is mounted below it cannot be written either.
  subPath: A path in the volume to mount in place of its root.
  subPathExpr: As subPath, with $(NAME) replaced by the container's variables.
  mountPropagation: Whether mounts made later inside or outside are seen on the other side.

EmptyDirVolumeSource: An empty directory.
  medium: Memory keeps it in memory; otherwise it is on the node's disk.
  sizeLimit: The most that may be in it.

HostPathVolumeSource: A path of the node.
  path: The path.
  type: What must be there, or is to be made: Directory, DirectoryOrCreate, File and others.

ConfigMapVolumeSource: The values of a ConfigMap as files.
  name: The ConfigMap.
  items: Which keys, and the paths of their files; all if nothing is said.
  defaultMode: The mode of files, 0644 if nothing is said.
  optional: Whether the ConfigMap may be missing.

SecretVolumeSource: The values of a Secret as files.
  secretName: The Secret.
  items: Which keys, and the paths of their files; all if nothing is said.
  defaultMode: The mode of files, 0644 if nothing is said.
  optional: Whether the Secret may be missing.

KeyToPath: A key and the file it becomes.
  key: The key.
  path: The path of the file, below the mount.
  mode: The mode of the file.

PersistentVolumeClaimVolumeSource: A claim in the same namespace.
  claimName: Its name.
  readOnly: Whether the volume cannot be written by this pod.

Toleration: A taint that a pod puts up with. It matches by key, value and effect.
  key: The key of the taint; empty matches all, with the operator Exists.
  operator: Equal (the default) compares values, Exists does not.
  value: The value of the taint.
  effect: The effect that is meant; empty means all.
  tolerationSeconds: How long the pod stays after a NoExecute taint appeared; for ever if nothing is said.

Affinity: Where a pod likes or needs to run.
  nodeAffinity: By labels of nodes.
  podAffinity: Near to other pods.
  podAntiAffinity: Away from other pods.

NodeAffinity: Which nodes a pod may run on, by their labels.
  requiredDuringSchedulingIgnoredDuringExecution: What a node must have. Once the pod runs, it is not looked at again.
  preferredDuringSchedulingIgnoredDuringExecution: What is better to have; weights are added up.

PodAffinity: Which pods this one is placed near to.
  requiredDuringSchedulingIgnoredDuringExecution: Pods that must be near.
  preferredDuringSchedulingIgnoredDuringExecution: Pods that had better be near; weights are added up.

PodAntiAffinity: Which pods this one is kept away from.
  requiredDuringSchedulingIgnoredDuringExecution: Pods that must not be near.
  preferredDuringSchedulingIgnoredDuringExecution: Pods that had better not be near; weights are added up.

PodAffinityTerm: Pods, and what near to them means.
  labelSelector: The pods.
  namespaces: Their namespaces; the pod's own if nothing is said.
  namespaceSelector: Their namespaces, by label.
  topologyKey: The label of nodes whose value must be the same to be near.
  matchLabelKeys: Labels of this pod whose values the others must share.
  mismatchLabelKeys: Labels of this pod whose values the others must not share.

TopologySpreadConstraint: How pods are spread.
  maxSkew: By how many pods places may differ.
  topologyKey: The label of nodes whose values are the places.
  whenUnsatisfiable: DoNotSchedule, or ScheduleAnyway.
  labelSelector: The pods that are counted.
  minDomains: How many places there must be at least.
  nodeAffinityPolicy: Whether nodes that the pod's affinity excludes count.
  nodeTaintsPolicy: Whether nodes with taints count.
  matchLabelKeys: Labels of this pod whose values the counted ones must share.

NodeSelector: Nodes by their labels; one of the terms must be met.
  nodeSelectorTerms: The terms.

NodeSelectorTerm: Requirements that must all be met.
  matchExpressions: Of the labels of a node.
  matchFields: Of the fields of a node; metadata.name is the only one.

NodeSelectorRequirement: A requirement of one label or field.
  key: Its name.
  operator: In, NotIn, Exists, DoesNotExist, Gt or Lt.
  values: The values to compare with.

PodStatus: What has become of a pod.
  phase: Pending, Running, Succeeded, Failed or Unknown: where the pod is in its life.
  message: Why it is so, for people.
  reason: Why it is so, in one word.
  nominatedNodeName: The node on which room is being made for the pod.
  hostIP: The address of its node.
  hostIPs: All addresses of its node.
  podIP: The address of the pod.
  podIPs: All addresses of the pod.
  startTime: When the kubelet took it up.
  initContainerStatuses: How each init container does.
  containerStatuses: How each container does.
  ephemeralContainerStatuses: How each ephemeral container does.
  qosClass: Guaranteed, Burstable or BestEffort: who has to go last when a node runs out of memory.
  resize: How far a change of resources has come.
  resourceClaimStatuses: The claims that were made for the pod.

ContainerStatus: How a container does.
  name: The container.
  state: What it does now: waiting, running or terminated.
  lastState: How it ended the last time.
  ready: Whether it can take requests.
  restartCount: How often it was restarted.
  image: The image that it runs.
  imageID: The very image, by its digest.
  containerID: Its name in the container runtime.
  started: Whether it has started, as its startup probe sees it.
  allocatedResources: What the node has set aside for it.
  resources: What it may use now.

ContainerState: What a container does; one of these.
  waiting: It waits to be started.
  running: It runs.
  terminated: It has ended.

ContainerStateWaiting: Why a container waits.
  reason: In one word.
  message: For people.

ContainerStateRunning: A container that runs.
  startedAt: Since when.

ContainerStateTerminated: How a container ended.
  exitCode: Its exit code.
  signal: The signal that ended it.
  reason: Why, in one word.
  message: Its last words.
  startedAt: When it was started.
  finishedAt: When it ended.
  containerID: Its name in the container runtime.

PodCondition like Condition: What is true of a pod: PodScheduled, Initialized, ContainersReady, Ready and others.
`
