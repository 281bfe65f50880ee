/** Descriptions of pods and their parts, in the format that ../descriptions.ts explains. */
export const podTexts = `
Pod: A group of containers that run on the same node and share its network and volumes. Usually created by a Deployment, a Job or another workload.

PodTemplateSpec: A template for the pods of a workload.
  metadata: Labels and annotations of each pod.
  spec: The specification of each pod.

PodSpec: The specification of a pod.
  volumes: Volumes that containers can mount.
  initContainers: Containers that run before the other containers, one after the other. Each must succeed. With the restart policy Always it is a sidecar.
  containers: The containers of the pod. There must be at least one, and the list cannot be changed later.
  ephemeralContainers: Containers that are added to a running pod for debugging, through the subresource ephemeralcontainers.
  restartPolicy: When terminated containers are restarted: Always (the default), OnFailure or Never.
  terminationGracePeriodSeconds: The number of seconds that containers have to shut down before they are killed. Defaults to 30.
  activeDeadlineSeconds: The number of seconds that the pod may run before it is stopped and counts as failed.
  dnsPolicy: The DNS policy: ClusterFirst (the default), ClusterFirstWithHostNet, Default (that of the node) or None.
  nodeSelector: Labels that a node must have to run the pod.
  serviceAccountName: The service account of the pod. Defaults to the account named default.
  serviceAccount: Deprecated. Use serviceAccountName.
  automountServiceAccountToken: Whether a token of the service account is mounted into the containers.
  nodeName: The node that runs the pod. Set by the scheduler. If it is set on creation, the scheduler is bypassed.
  hostNetwork: Whether the pod uses the network of the node.
  hostPID: Whether the pod uses the process namespace of the node.
  hostIPC: Whether the pod uses the IPC namespace of the node.
  shareProcessNamespace: Whether the containers of the pod share one process namespace.
  securityContext: Security settings of all containers. Settings of a container take precedence.
  imagePullSecrets: Secrets in the pod's namespace with credentials for image registries.
  hostname: The host name of the pod. Defaults to the name of the pod.
  subdomain: The subdomain of the pod. If a headless Service has this name, the pod gets its own DNS name.
  affinity: Scheduling constraints with regard to nodes and other pods.
  schedulerName: The scheduler that schedules the pod.
  tolerations: Taints of nodes that the pod tolerates.
  hostAliases: Additional entries of the pod's hosts file.
  priorityClassName: The PriorityClass of the pod. Pods of higher priority are scheduled first, and may preempt others.
  priority: The priority value of the class. Set by the server.
  dnsConfig: Name servers, search domains and options, in addition to those of dnsPolicy.
  readinessGates: Additional conditions that must be True for the pod to be ready.
  runtimeClassName: The RuntimeClass, which selects how containers are run.
  enableServiceLinks: Whether containers get environment variables for the Services of the namespace.
  preemptionPolicy: Whether the pod may preempt pods of lower priority.
  overhead: Resources that the pod needs in addition to those of its containers. Set from the RuntimeClass.
  topologySpreadConstraints: How a group of pods is spread over zones, nodes or other topology domains.
  setHostnameAsFQDN: Whether the host name is the fully qualified domain name.
  os: The operating system of the containers.
  hostUsers: Whether the pod uses the user namespace of the node. If false, it gets its own.
  schedulingGates: The pod is not scheduled while it has any of these gates.
  resourceClaims: ResourceClaims, for example for devices, that must be allocated for the pod.
  resources: The resources of all containers of the pod together.

Container: A container of a pod.
  name: The name of the container, which is unique in the pod. It cannot be changed.
  image: The image to run.
  command: The command to run, which replaces the entry point of the image. It is not run in a shell. $(NAME) is replaced by the value of that environment variable.
  args: The arguments, which replace those of the image. $(NAME) is replaced by the value of that environment variable.
  workingDir: The working directory. Defaults to that of the image.
  ports: Ports on which the container listens. This is informational, and other ports are also reachable.
  envFrom: ConfigMaps and Secrets whose keys all become environment variables.
  env: Environment variables.
  resources: The resources that the container requests, and its limits.
  resizePolicy: Whether the container must be restarted when its resources are changed.
  restartPolicy: Always makes an init container a sidecar, which runs as long as the pod. Other containers must not set it.
  volumeMounts: Volumes of the pod to mount into the container.
  volumeDevices: Volumes of the pod to use as block devices.
  livenessProbe: Checks whether the container still works. If not, it is restarted.
  readinessProbe: Checks whether the container can serve requests. If not, Services do not send requests to the pod.
  startupProbe: Checks whether the container has started. The other probes wait for it.
  lifecycle: Actions after the start of the container, and before its termination.
  terminationMessagePath: The file from which the termination message is read.
  terminationMessagePolicy: The source of the termination message: File, or FallbackToLogsOnError.
  imagePullPolicy: When the image is pulled: Always, IfNotPresent or Never. Defaults to Always for the tag latest.
  securityContext: Security settings of the container, which take precedence over those of the pod.
  stdin: Whether the container has a standard input, to which clients can attach.
  stdinOnce: Whether standard input is closed when the first attached client disconnects.
  tty: Whether the container has a terminal.

EphemeralContainer like Container: A container that is added to a running pod for debugging. It is never restarted, and has no guaranteed resources.
  targetContainerName: The container whose processes are visible to this one.

ContainerPort: A port on which a container listens.
  name: The name of the port, to which Services and probes can refer.
  containerPort: The number of the port, from 1 to 65535.
  protocol: TCP (the default), UDP or SCTP.
  hostPort: A port of the node that is forwarded to this port. Most pods do not need it.
  hostIP: The address of the node to which hostPort is bound.

EnvVar: An environment variable.
  name: The name of the variable.
  value: The value. $(NAME) is replaced by the value of an earlier variable, and $$(NAME) by the text $(NAME).
  valueFrom: The source of the value. Must not be set together with value.

EnvVarSource: The source of a value. Exactly one field is set.
  fieldRef: A field of the pod.
  resourceFieldRef: A request or limit of a container.
  configMapKeyRef: A key of a ConfigMap.
  secretKeyRef: A key of a Secret.

EnvFromSource: A ConfigMap or Secret whose keys become environment variables.
  prefix: A prefix for the names of the variables.
  configMapRef: The ConfigMap.
  secretRef: The Secret.

ConfigMapKeySelector: A key of a ConfigMap in the same namespace.
  name: The name of the ConfigMap.
  key: The key.
  optional: Whether the ConfigMap or the key may be missing.

SecretKeySelector: A key of a Secret in the same namespace.
  name: The name of the Secret.
  key: The key.
  optional: Whether the Secret or the key may be missing.

ObjectFieldSelector: A field of an object.
  fieldPath: The path of the field, for example metadata.name.
  apiVersion: The version of the API to which the path refers. Defaults to v1.

Probe: A periodic check of a container. Exactly one of exec, httpGet, tcpSocket and grpc is set.
  exec: A command in the container that must exit with code 0.
  httpGet: A request whose response must have a status code from 200 to 399.
  tcpSocket: A port that must accept a connection.
  grpc: A port that must respond to the gRPC health check.
  initialDelaySeconds: The number of seconds between the start of the container and the first check.
  timeoutSeconds: The number of seconds that a check may take. Defaults to 1.
  periodSeconds: The number of seconds between checks. Defaults to 10.
  successThreshold: The number of consecutive successes after a failure for the probe to succeed. Must be 1 for liveness and startup probes.
  failureThreshold: The number of consecutive failures for the probe to fail. Defaults to 3.
  terminationGracePeriodSeconds: The number of seconds that the container has to shut down when the probe fails. Replaces the grace period of the pod.

ExecAction: A command to run in a container.
  command: The command and its arguments. It is not run in a shell.

HTTPGetAction: An HTTP GET request.
  path: The path of the URL.
  port: The port, as a number or a name.
  host: The host to connect to. Defaults to the pod.
  scheme: HTTP (the default) or HTTPS. Certificates are not verified.
  httpHeaders: Additional headers of the request.

TCPSocketAction: A TCP connection.
  port: The port, as a number or a name.
  host: The host to connect to. Defaults to the pod.

Lifecycle: Actions at the start and the end of a container.
  postStart: The action after the start. If it fails, the container is terminated.
  preStop: The action before the container is asked to shut down. Its duration counts against the grace period.
  stopSignal: The signal that asks the container to shut down.

ResourceRequirements: The resources that a container or pod requests, and its limits.
  limits: The maximum amounts of resources, such as cpu, memory and ephemeral-storage.
  requests: The amounts of resources that are reserved. The scheduler chooses a node with at least these amounts left. Defaults to the limits.
  claims: The ResourceClaims of the pod that are used.

VolumeResourceRequirements: The amount of storage.
  limits: The maximum amount.
  requests: The minimum amount, under the key storage.

SecurityContext: Security settings of a container.
  capabilities: Linux capabilities to add or drop.
  privileged: Whether the container is privileged, which is equivalent to root on the node. Avoid it.
  seLinuxOptions: The SELinux context of the container.
  windowsOptions: Settings that are specific to Windows.
  runAsUser: The user ID of the process. Defaults to that of the image.
  runAsGroup: The primary group ID of the process.
  runAsNonRoot: Whether the container must not run as root. If it would, it is not started.
  readOnlyRootFilesystem: Whether the root file system of the container is read-only.
  allowPrivilegeEscalation: Whether a process can gain more privileges than its parent process.
  procMount: How much of /proc is visible to the container.
  seccompProfile: The seccomp profile, which restricts system calls.
  appArmorProfile: The AppArmor profile of the container.

PodSecurityContext like SecurityContext: Security settings of all containers of a pod. Settings of a container take precedence.
  supplementalGroups: Additional group IDs of processes.
  supplementalGroupsPolicy: Whether groups in the image are also added.
  fsGroup: The group that owns the volumes, so that containers can write to them.
  fsGroupChangePolicy: When the group of files in a volume is changed: on each mount, or only if the root directory of the volume has another one.
  sysctls: Kernel parameters of the pod.
  seLinuxChangePolicy: How volumes get the SELinux label of the pod.

Capabilities: Linux capabilities, without the prefix CAP_.
  add: Capabilities to add.
  drop: Capabilities to drop. ALL drops all of them.

Volume: A volume that containers of the pod can mount. In addition to its name it has exactly one source.
  name: The name by which containers refer to the volume.
  hostPath: A file or directory of the node. Most pods should not use it.
  emptyDir: An initially empty directory that exists as long as the pod.
  secret: The data of a Secret as files.
  configMap: The data of a ConfigMap as files.
  downwardAPI: Fields of the pod as files.
  projected: Several secret, configMap, downwardAPI and token sources in one directory.
  persistentVolumeClaim: The volume of a PersistentVolumeClaim.
  ephemeral: A volume with a claim that is created for this pod.
  csi: A volume of a CSI driver that exists as long as the pod.
  nfs: A directory of an NFS server.
  iscsi: A disk that is attached over iSCSI.
  fc: A disk that is attached over Fibre Channel.
  image: The content of an image, read-only.

VolumeMount: A mount of a volume in a container.
  name: The name of the volume.
  mountPath: The path in the container.
  readOnly: Whether the mount is read-only.
  recursiveReadOnly: Whether mounts below it are also read-only.
  subPath: The path in the volume to mount, instead of its root.
  subPathExpr: Like subPath, but $(NAME) is replaced by the value of that environment variable.
  mountPropagation: Whether later mounts on the node become visible in the container, and vice versa.

EmptyDirVolumeSource: An initially empty directory.
  medium: Memory stores the files in memory. By default they are on the node's disk.
  sizeLimit: The maximum size of the files.

HostPathVolumeSource: A file or directory of the node.
  path: The path on the node.
  type: The type that must exist or is created: Directory, DirectoryOrCreate, File and others.

ConfigMapVolumeSource: The data of a ConfigMap as files.
  name: The name of the ConfigMap.
  items: The keys to include, with the paths of their files. If absent, all keys are included.
  defaultMode: The mode of files. Defaults to 0644.
  optional: Whether the ConfigMap may be missing.

SecretVolumeSource: The data of a Secret as files.
  secretName: The name of the Secret.
  items: The keys to include, with the paths of their files. If absent, all keys are included.
  defaultMode: The mode of files. Defaults to 0644.
  optional: Whether the Secret may be missing.

KeyToPath: A key, with the path of its file.
  key: The key.
  path: The path of the file, relative to the mount.
  mode: The mode of the file.

PersistentVolumeClaimVolumeSource: A claim in the same namespace.
  claimName: The name of the claim.
  readOnly: Whether the pod can only read the volume.

Toleration: Tolerates taints that match its key, value and effect.
  key: The key of the taint. If empty, the operator must be Exists, and all keys match.
  operator: Equal (the default) compares the value, and Exists does not.
  value: The value of the taint.
  effect: The effect of the taint. If empty, all effects match.
  tolerationSeconds: The number of seconds that the pod stays on a node after a NoExecute taint was added. If absent, it is never evicted.

Affinity: Scheduling constraints of a pod.
  nodeAffinity: Constraints on the labels of nodes.
  podAffinity: Places the pod near other pods.
  podAntiAffinity: Keeps the pod away from other pods.

NodeAffinity: Constraints on the labels of nodes.
  requiredDuringSchedulingIgnoredDuringExecution: Requirements on the node. They are not checked again once the pod runs.
  preferredDuringSchedulingIgnoredDuringExecution: Preferences for nodes. The weights of matching preferences are added up.

PodAffinity: Places a pod near other pods.
  requiredDuringSchedulingIgnoredDuringExecution: Pods that must be near.
  preferredDuringSchedulingIgnoredDuringExecution: Pods that should be near. The weights of matching preferences are added up.

PodAntiAffinity: Keeps a pod away from other pods.
  requiredDuringSchedulingIgnoredDuringExecution: Pods that must not be near.
  preferredDuringSchedulingIgnoredDuringExecution: Pods that should not be near. The weights of matching preferences are added up.

PodAffinityTerm: A group of pods, and the topology domain in which they count as near.
  labelSelector: Selects the pods.
  namespaces: The namespaces of the pods. Defaults to the namespace of this pod.
  namespaceSelector: Selects the namespaces of the pods.
  topologyKey: A label of nodes. Nodes with the same value are near each other.
  matchLabelKeys: Labels of this pod whose values the other pods must have.
  mismatchLabelKeys: Labels of this pod whose values the other pods must not have.

TopologySpreadConstraint: How a group of pods is spread over topology domains.
  maxSkew: The maximum difference between the numbers of pods in two domains.
  topologyKey: A label of nodes. Nodes with the same value are one domain.
  whenUnsatisfiable: What to do if the constraint cannot be met: DoNotSchedule, or ScheduleAnyway.
  labelSelector: Selects the pods that are counted.
  minDomains: The minimum number of domains.
  nodeAffinityPolicy: Whether nodes that do not match the pod's node affinity are counted.
  nodeTaintsPolicy: Whether nodes with taints that the pod does not tolerate are counted.
  matchLabelKeys: Labels of this pod whose values the counted pods must have.

NodeSelector: Selects nodes. At least one term must match.
  nodeSelectorTerms: The terms.

NodeSelectorTerm: Requirements that must all be met.
  matchExpressions: Requirements on the labels of a node.
  matchFields: Requirements on the fields of a node. Only metadata.name is supported.

NodeSelectorRequirement: A requirement on one label or field.
  key: The name of the label or field.
  operator: In, NotIn, Exists, DoesNotExist, Gt or Lt.
  values: The values to compare with.

PodStatus: The observed state of a pod.
  phase: The phase in the life of the pod: Pending, Running, Succeeded, Failed or Unknown.
  message: Why the pod is in this state, for people.
  reason: Why the pod is in this state, as one word for programs.
  nominatedNodeName: The node on which other pods are preempted to make room for this pod.
  hostIP: The primary IP address of the node.
  hostIPs: The IP addresses of the node.
  podIP: The primary IP address of the pod.
  podIPs: The IP addresses of the pod.
  startTime: When the kubelet accepted the pod.
  initContainerStatuses: The states of the init containers.
  containerStatuses: The states of the containers.
  ephemeralContainerStatuses: The states of the ephemeral containers.
  qosClass: Guaranteed, Burstable or BestEffort. It determines which pods are evicted first when a node runs out of resources.
  resize: The progress of a change of resources.
  resourceClaimStatuses: The ResourceClaims that were created for the pod.

ContainerStatus: The observed state of a container.
  name: The name of the container.
  state: The current state: waiting, running or terminated.
  lastState: The previous terminated state.
  ready: Whether the container can serve requests.
  restartCount: The number of restarts.
  image: The image of the container.
  imageID: The exact image, identified by its digest.
  containerID: The identifier of the container in the container runtime.
  started: Whether the container has started and passed its startup probe.
  allocatedResources: The resources that the node has reserved for the container.
  resources: The requests and limits that are in effect.

ContainerState: The state of a container. Exactly one field is set.
  waiting: The container has not started yet.
  running: The container is running.
  terminated: The container has terminated.

ContainerStateWaiting: A container that has not started yet.
  reason: Why it is waiting, as one word for programs.
  message: Why it is waiting, for people.

ContainerStateRunning: A running container.
  startedAt: When it was started.

ContainerStateTerminated: A terminated container.
  exitCode: The exit code.
  signal: The signal that terminated it.
  reason: Why it terminated, as one word for programs.
  message: The termination message.
  startedAt: When it was started.
  finishedAt: When it terminated.
  containerID: The identifier of the container in the container runtime.

PodCondition like Condition: A condition of a pod, such as PodScheduled, Initialized, ContainersReady or Ready.
`
