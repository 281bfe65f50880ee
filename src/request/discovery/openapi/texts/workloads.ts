/**
 * Descriptions of workloads, autoscaling, services and networking, in the format that
 * ../descriptions.ts explains.
 */
export const workloadTexts = `
Deployment: Keeps a number of identical pods running, and replaces them gradually when their template changes. It manages ReplicaSets.

DeploymentSpec: The desired pods.
  replicas: The desired number of pods. Defaults to 1.
  selector: Selects the pods of the Deployment. It must match the labels of the template, and cannot be changed.
  template: The template for new pods. A change of the template starts a rollout.
  strategy: How existing pods are replaced by new ones.
  minReadySeconds: The number of seconds for which a new pod must be ready before it counts as available.
  revisionHistoryLimit: The number of old ReplicaSets that are kept for rollbacks. Defaults to 10.
  paused: Whether changes of the template do not start a rollout.
  progressDeadlineSeconds: The number of seconds without progress after which a rollout counts as failed. Defaults to 600.

DeploymentStrategy: How pods are replaced.
  type: RollingUpdate (the default), or Recreate, which stops all existing pods first.
  rollingUpdate: The settings of a rolling update.

RollingUpdateDeployment: The settings of a rolling update.
  maxUnavailable: The maximum number of pods that may be unavailable, as a number or a percentage. Defaults to 25%.
  maxSurge: The maximum number of pods beyond the desired number, as a number or a percentage. Defaults to 25%.

DeploymentStatus: The observed state of a Deployment.
  replicas: The number of pods.
  updatedReplicas: The number of pods with the current template.
  readyReplicas: The number of ready pods.
  availableReplicas: The number of pods that have been ready for at least minReadySeconds.
  unavailableReplicas: The number of pods that are still missing.
  terminatingReplicas: The number of terminating pods.
  collisionCount: The number of times that the name of a new ReplicaSet was already taken.

ReplicaSet: Keeps a number of identical pods running. Usually created by a Deployment.

ReplicaSetSpec: The desired pods.
  replicas: The desired number of pods. Defaults to 1.
  minReadySeconds: The number of seconds for which a pod must be ready before it counts as available.
  selector: Selects the pods of the ReplicaSet. It must match the labels of the template, and cannot be changed.
  template: The template for new pods. A change of the template does not affect existing pods.

ReplicaSetStatus: The observed state of a ReplicaSet.
  replicas: The number of pods.
  fullyLabeledReplicas: The number of pods that have all labels of the template.
  readyReplicas: The number of ready pods.
  availableReplicas: The number of pods that have been ready for at least minReadySeconds.
  terminatingReplicas: The number of terminating pods.

StatefulSet: Keeps pods with stable names and storage running: web-0, web-1 and so on. A replaced pod keeps both.

StatefulSetSpec: The desired pods.
  replicas: The desired number of pods. Defaults to 1.
  selector: Selects the pods of the StatefulSet. It must match the labels of the template, and cannot be changed.
  template: The template for new pods.
  volumeClaimTemplates: Templates for the claims of each pod. A pod mounts the volumes by the names of the templates.
  serviceName: The headless Service that gives the pods their DNS names.
  podManagementPolicy: OrderedReady (the default) creates one pod after the other, and Parallel creates all at once.
  updateStrategy: How pods are replaced when the template changes.
  revisionHistoryLimit: The number of old revisions of the template that are kept. Defaults to 10.
  minReadySeconds: The number of seconds for which a pod must be ready before it counts as available.
  persistentVolumeClaimRetentionPolicy: Whether claims are deleted with the StatefulSet, or when it is scaled down.
  ordinals: The numbering of the pods.

StatefulSetUpdateStrategy: How pods are replaced.
  type: RollingUpdate (the default), or OnDelete, which replaces pods only when they are deleted by other means.
  rollingUpdate: The settings of a rolling update.

RollingUpdateStatefulSetStrategy: The settings of a rolling update.
  partition: Pods with a lower ordinal keep the old template.
  maxUnavailable: The maximum number of pods that may be unavailable.

StatefulSetStatus: The observed state of a StatefulSet.
  replicas: The number of pods.
  readyReplicas: The number of ready pods.
  currentReplicas: The number of pods with the revision currentRevision.
  updatedReplicas: The number of pods with the revision updateRevision.
  currentRevision: The revision of the template before the update.
  updateRevision: The revision of the template after the update.
  availableReplicas: The number of pods that have been ready for at least minReadySeconds.
  collisionCount: The number of times that the name of a new revision was already taken.

DaemonSet: Runs one pod on each node, or on selected nodes.

DaemonSetSpec: The desired pods.
  selector: Selects the pods of the DaemonSet. It must match the labels of the template, and cannot be changed.
  template: The template for new pods. They run on nodes that match its node selector and affinity.
  updateStrategy: How pods are replaced when the template changes.
  minReadySeconds: The number of seconds for which a pod must be ready before it counts as available.
  revisionHistoryLimit: The number of old revisions of the template that are kept. Defaults to 10.

DaemonSetUpdateStrategy: How pods are replaced.
  type: RollingUpdate (the default), or OnDelete, which replaces pods only when they are deleted by other means.
  rollingUpdate: The settings of a rolling update.

RollingUpdateDaemonSet: The settings of a rolling update.
  maxUnavailable: The maximum number of nodes that may be without a pod. Defaults to 1.
  maxSurge: The maximum number of nodes that may run two pods.

DaemonSetStatus: The observed state of a DaemonSet.
  currentNumberScheduled: The number of nodes that run a pod and should.
  numberMisscheduled: The number of nodes that run a pod but should not.
  desiredNumberScheduled: The number of nodes that should run a pod.
  numberReady: The number of nodes with a ready pod.
  updatedNumberScheduled: The number of nodes with a pod of the current template.
  numberAvailable: The number of nodes with a pod that has been ready for at least minReadySeconds.
  numberUnavailable: The number of nodes that should have such a pod but do not.
  collisionCount: The number of times that the name of a new revision was already taken.

Job: Runs pods until a number of them have succeeded.

JobTemplateSpec: A template for the Jobs of a CronJob.
  metadata: Labels and annotations of each Job.
  spec: The specification of each Job.

JobSpec: The work to do.
  parallelism: The maximum number of pods that run concurrently. Defaults to 1.
  completions: The number of pods that must succeed.
  activeDeadlineSeconds: The number of seconds that the Job may run before it is stopped and counts as failed.
  podFailurePolicy: What to do when a pod fails in a certain way.
  successPolicy: When the Job counts as successful although not all pods have succeeded.
  backoffLimit: The number of failed pods after which the Job fails. Defaults to 6.
  backoffLimitPerIndex: The number of failed pods of one index after which that index fails.
  maxFailedIndexes: The number of failed indexes after which the Job fails.
  selector: Selects the pods of the Job. Set by the server.
  manualSelector: Whether the user sets the selector. The user must then ensure that it matches no other pods.
  template: The template for new pods. Their restart policy must be OnFailure or Never.
  ttlSecondsAfterFinished: The number of seconds for which a finished Job is kept. If absent, it is never deleted automatically.
  completionMode: NonIndexed (the default), or Indexed, which gives each pod a number.
  suspend: Whether the Job is suspended. Running pods are stopped.
  podReplacementPolicy: Whether a pod is replaced when it starts to terminate, or when it has failed.
  managedBy: The controller that manages the Job, if it is not the built-in one.

JobStatus: The observed state of a Job.
  startTime: When the Job was started.
  completionTime: When the Job was completed.
  active: The number of pending and running pods.
  ready: The number of ready pods.
  terminating: The number of terminating pods.
  succeeded: The number of pods that have succeeded.
  failed: The number of pods that have failed.
  completedIndexes: The completed indexes, for example 0,3-5.
  failedIndexes: The failed indexes.
  uncountedTerminatedPods: Pods that have terminated but are not counted yet.

CronJob: Creates Jobs on a schedule.

CronJobSpec: The schedule, and the Jobs to create.
  schedule: The schedule in cron format: minute, hour, day of the month, month, day of the week.
  timeZone: The time zone of the schedule, for example Europe/Berlin. Defaults to that of the controller manager.
  startingDeadlineSeconds: How many seconds late a Job may start if it missed its time. After that it is skipped.
  concurrencyPolicy: What to do if the previous Job is still running: Allow (the default), Forbid or Replace.
  suspend: Whether no further Jobs are created.
  jobTemplate: The template for new Jobs.
  successfulJobsHistoryLimit: The number of successful Jobs that are kept. Defaults to 3.
  failedJobsHistoryLimit: The number of failed Jobs that are kept. Defaults to 1.

CronJobStatus: The observed state of a CronJob.
  active: The Jobs that are running.
  lastScheduleTime: When a Job was last scheduled.
  lastSuccessfulTime: When a Job last succeeded.

Service: A stable name and address for a set of pods.

ServiceSpec: Which pods the Service selects, and how they are reached.
  ports: The ports of the Service.
  selector: Selects the pods that receive the traffic. Without a selector, the endpoints must be managed by other means.
  clusterIP: The IP address inside the cluster. Set by the server. None makes the Service headless, so that DNS returns the addresses of the pods.
  clusterIPs: All IP addresses inside the cluster, one per IP family. The first one is clusterIP.
  type: ClusterIP (the default) is reachable inside the cluster, NodePort also on a port of each node, and LoadBalancer also through a load balancer. ExternalName is only a DNS alias.
  externalIPs: Additional addresses of nodes at which the Service is reached. Kubernetes does not manage them.
  sessionAffinity: None (the default), or ClientIP, which sends all requests of a client to the same pod.
  sessionAffinityConfig: The settings of the session affinity.
  loadBalancerIP: Deprecated. The desired address of the load balancer.
  loadBalancerSourceRanges: The client addresses that may use the load balancer.
  loadBalancerClass: The load balancer implementation, if it is not the default one.
  allocateLoadBalancerNodePorts: Whether node ports are allocated for a load balancer. Defaults to true.
  externalName: The DNS name to which an ExternalName Service refers.
  externalTrafficPolicy: Which pods receive traffic from outside the cluster: Cluster (all pods), or Local (pods on the same node, which preserves the client address).
  internalTrafficPolicy: Which pods receive traffic from inside the cluster: Cluster or Local.
  trafficDistribution: A preference for the distribution of traffic. PreferClose keeps it in the same zone.
  healthCheckNodePort: The node port at which a load balancer checks whether a node has pods of the Service.
  publishNotReadyAddresses: Whether pods that are not ready are also published as endpoints.
  ipFamilies: IPv4, IPv6 or both.
  ipFamilyPolicy: SingleStack, PreferDualStack or RequireDualStack.

ServicePort: A port of a Service.
  name: The name of the port. Required if the Service has several ports.
  protocol: TCP (the default), UDP or SCTP.
  appProtocol: The application protocol of the port.
  port: The number of the port.
  targetPort: The port of the pods, as a number or a name. Defaults to the number of the Service port.
  nodePort: The port on each node. The server allocates it unless it is set.

ServiceStatus: The observed state of a Service.
  loadBalancer: The addresses of the load balancer.

Ingress: Routes HTTP traffic from outside the cluster to Services, by host and path.

IngressSpec: The rules of an Ingress.
  ingressClassName: The IngressClass, which selects the controller of the Ingress.
  defaultBackend: The backend for requests that match no rule.
  tls: The hosts whose TLS connections end at the Ingress.
  rules: The hosts and paths, with their backends.

IngressRule: The rules of one host.
  host: The host name. *.example.com matches one additional label. If absent, all hosts match.
  http: The paths of the host.

HTTPIngressRuleValue: The paths of a host.
  paths: The paths, with their backends.

HTTPIngressPath: A path, with its backend.
  path: The path, which begins with a slash.
  pathType: Exact, Prefix (by path elements) or ImplementationSpecific.
  backend: The backend for requests that match the path.

IngressBackend: The destination of requests. Exactly one field is set.
  service: A Service.
  resource: An object of another kind, which the controller must support.

IngressServiceBackend: A Service in the namespace of the Ingress.
  name: The name of the Service.
  port: The port of the Service.

ServiceBackendPort: A port of a Service. Exactly one field is set.
  name: The name of the port.
  number: The number of the port.

IngressTLS: Hosts that share a certificate.
  hosts: The hosts in the certificate.
  secretName: The Secret with tls.crt and tls.key.

IngressStatus: The observed state of an Ingress.
  loadBalancer: The addresses of the load balancer.

HorizontalPodAutoscaler: Adjusts the number of pods of a workload to its load.

HorizontalPodAutoscalerSpec: What to scale, and by which metrics.
  scaleTargetRef: The workload to scale. It must have the scale subresource.
  minReplicas: The minimum number of pods. Defaults to 1.
  maxReplicas: The maximum number of pods.
  metrics: The metrics that determine the number of pods. The metric that requires the most pods is used.
  behavior: How fast to scale up and down.
  targetCPUUtilizationPercentage: The desired average CPU utilization, as a percentage of the requested CPU.

HorizontalPodAutoscalerStatus: The observed state of an autoscaler.
  lastScaleTime: When the number of pods was last changed.
  currentReplicas: The last observed number of pods.
  desiredReplicas: The number of pods that the autoscaler last computed.
  currentMetrics: The last observed values of the metrics.
  currentCPUUtilizationPercentage: The current average CPU utilization, as a percentage of the requested CPU.

CrossVersionObjectReference: A reference to an object by group, kind and name.
  apiVersion: The group and version of the object's kind.
  kind: The kind of the object.
  name: The name of the object.

MetricSpec: A metric, with its target.
  type: Resource, ContainerResource, Pods, Object or External. The field of that name has the details.
  resource: CPU or memory of the pods.
  containerResource: CPU or memory of one container of the pods.
  pods: A metric that each pod has.
  object: A metric of another object.
  external: A metric from outside the cluster.

ResourceMetricSource: CPU or memory of pods.
  name: cpu or memory.
  target: The target of the metric.

MetricTarget: The target of a metric.
  type: Utilization, Value or AverageValue.
  value: The target value.
  averageValue: The target for the average value per pod.
  averageUtilization: The target for the average utilization, as a percentage of the requested resources.

HorizontalPodAutoscalerBehavior: How fast to scale.
  scaleUp: The rules for scaling up.
  scaleDown: The rules for scaling down.

HPAScalingRules: How fast to scale in one direction.
  stabilizationWindowSeconds: The number of seconds for which past recommendations are considered, to avoid frequent changes.
  selectPolicy: Which of the policies applies: Max (the default), Min or Disabled.
  policies: The maximum changes in a period.
  tolerance: The difference from the target up to which the number of pods stays the same.

HPAScalingPolicy: The maximum change in a period.
  type: Pods or Percent.
  value: The maximum change.
  periodSeconds: The length of the period, in seconds.
`
