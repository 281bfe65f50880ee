/**
 * Descriptions of workloads, autoscaling, services and networking. ../descriptions.ts explains the
 * format.
 */
export const workloadTexts = `
Deployment: Keeps a number of equal pods running and replaces them step by step when their template changes. It works through ReplicaSets.

DeploymentSpec: The pods that are wanted.
  replicas: How many pods; 1 if nothing is said.
  selector: The labels by which the Deployment knows its pods. The template must have them; it cannot be changed.
  template: The pods to make. A change of it begins a rollout.
  strategy: How old pods are replaced by new ones.
  minReadySeconds: How long a new pod must be ready before it counts as available.
  revisionHistoryLimit: How many old ReplicaSets are kept to go back to; 10 if nothing is said.
  paused: Whether changes of the template wait.
  progressDeadlineSeconds: After how long without progress a rollout counts as failed; 600 if nothing is said.

DeploymentStrategy: How pods are replaced.
  type: RollingUpdate (the default), or Recreate: first all old ones end.
  rollingUpdate: How many at a time.

RollingUpdateDeployment: How many pods are replaced at a time.
  maxUnavailable: How many may be missing, as a number or a percentage; 25% if nothing is said.
  maxSurge: How many may be there beyond those wanted, as a number or a percentage; 25% if nothing is said.

DeploymentStatus: How far it has come.
  replicas: How many pods there are.
  updatedReplicas: How many of them are of the current template.
  readyReplicas: How many are ready.
  availableReplicas: How many have been ready for long enough.
  unavailableReplicas: How many are still missing.
  terminatingReplicas: How many are about to end.
  collisionCount: How often a name for a ReplicaSet was taken already.

ReplicaSet: Keeps a number of equal pods running. Usually made by a Deployment.

ReplicaSetSpec: The pods that are wanted.
  replicas: How many pods; 1 if nothing is said.
  minReadySeconds: How long a pod must be ready before it counts as available.
  selector: The labels by which it knows its pods. The template must have them; it cannot be changed.
  template: The pods to make. Those that are there stay as they are.

ReplicaSetStatus: How far it has come.
  replicas: How many pods there are.
  fullyLabeledReplicas: How many have all labels of the template.
  readyReplicas: How many are ready.
  availableReplicas: How many have been ready for long enough.
  terminatingReplicas: How many are about to end.

StatefulSet: Keeps pods with names and storage of their own: web-0, web-1 and so on. A pod that is replaced gets both again.

StatefulSetSpec: The pods that are wanted.
  replicas: How many pods; 1 if nothing is said.
  selector: The labels by which it knows its pods. The template must have them; it cannot be changed.
  template: The pods to make.
  volumeClaimTemplates: Claims that are made for each pod; a pod finds its volumes by their names.
  serviceName: The headless Service that gives pods their DNS names.
  podManagementPolicy: OrderedReady (the default) makes one pod after the other, Parallel all at once.
  updateStrategy: How pods are replaced when the template changes.
  revisionHistoryLimit: How many old templates are kept; 10 if nothing is said.
  minReadySeconds: How long a pod must be ready before it counts as available.
  persistentVolumeClaimRetentionPolicy: Whether claims go with the set or with pods that are too many.
  ordinals: Where counting begins.

StatefulSetUpdateStrategy: How pods are replaced.
  type: RollingUpdate (the default), or OnDelete: when somebody deletes them.
  rollingUpdate: From where, and how many at a time.

RollingUpdateStatefulSetStrategy: How far an update goes.
  partition: Pods with a lower number keep the old template.
  maxUnavailable: How many may be missing at a time.

StatefulSetStatus: How far it has come.
  replicas: How many pods there are.
  readyReplicas: How many are ready.
  currentReplicas: How many are of the template before.
  updatedReplicas: How many are of the template after.
  currentRevision: The template before.
  updateRevision: The template after.
  availableReplicas: How many have been ready for long enough.
  collisionCount: How often a name for a revision was taken already.

DaemonSet: Runs one pod on each node, or on those that are selected.

DaemonSetSpec: The pods that are wanted.
  selector: The labels by which it knows its pods. The template must have them; it cannot be changed.
  template: The pods to make. They run on nodes that fit its node selector and affinity.
  updateStrategy: How pods are replaced when the template changes.
  minReadySeconds: How long a pod must be ready before it counts as available.
  revisionHistoryLimit: How many old templates are kept; 10 if nothing is said.

DaemonSetUpdateStrategy: How pods are replaced.
  type: RollingUpdate (the default), or OnDelete: when somebody deletes them.
  rollingUpdate: How many at a time.

RollingUpdateDaemonSet: How many pods are replaced at a time.
  maxUnavailable: How many nodes may be without a pod; 1 if nothing is said.
  maxSurge: How many nodes may have two.

DaemonSetStatus: How far it has come.
  currentNumberScheduled: On how many nodes a pod runs that should.
  numberMisscheduled: On how many nodes a pod runs that should not.
  desiredNumberScheduled: On how many nodes a pod should run.
  numberReady: On how many nodes it is ready.
  updatedNumberScheduled: On how many nodes it is of the current template.
  numberAvailable: On how many nodes it has been ready for long enough.
  numberUnavailable: On how many nodes it has not.
  collisionCount: How often a name for a revision was taken already.

Job: Runs pods until so many of them have ended well.

JobTemplateSpec: The Jobs that a CronJob makes.
  metadata: Labels and annotations that each Job gets.
  spec: What each Job is to be.

JobSpec: The work to do.
  parallelism: How many pods run at a time; 1 if nothing is said.
  completions: How many pods must end well.
  activeDeadlineSeconds: How long the Job may run before it is ended and counted as failed.
  podFailurePolicy: What is done when a pod fails in a certain way.
  successPolicy: When the Job counts as done though not all is done.
  backoffLimit: How often pods may fail before the Job does; 6 if nothing is said.
  backoffLimitPerIndex: The same for each index by itself.
  maxFailedIndexes: How many indexes may fail before the Job does.
  selector: The labels by which the Job knows its pods. Set by the server.
  manualSelector: Whether the selector is yours. You must then see to it that it matches no other pods.
  template: The pods to make. Their restart policy is OnFailure or Never.
  ttlSecondsAfterFinished: How long a finished Job is kept; for ever if nothing is said.
  completionMode: NonIndexed (the default), or Indexed: each pod has a number of its own.
  suspend: Whether the Job waits. Pods that run are ended.
  podReplacementPolicy: Whether a pod is replaced when it begins to end, or when it has.
  managedBy: Who works on the Job, if not the built-in controller.

JobStatus: How far it has come.
  startTime: When it was begun.
  completionTime: When it was done.
  active: How many pods run or are about to.
  ready: How many of them are ready.
  terminating: How many are about to end.
  succeeded: How many have ended well.
  failed: How many have failed.
  completedIndexes: Which indexes are done, for example 0,3-5.
  failedIndexes: Which indexes have failed.
  uncountedTerminatedPods: Pods that have ended and are yet to be counted.

CronJob: Makes a Job again and again, by a schedule.

CronJobSpec: When, and which Jobs.
  schedule: When, as in crontab: minute, hour, day of the month, month, day of the week.
  timeZone: The time zone of the schedule, for example Europe/Berlin; that of the controller manager if nothing is said.
  startingDeadlineSeconds: How late a Job may begin that missed its time. Later it is left out.
  concurrencyPolicy: What is done when the last Job still runs: Allow (the default), Forbid or Replace.
  suspend: Whether no further Jobs are made.
  jobTemplate: The Jobs to make.
  successfulJobsHistoryLimit: How many Jobs that went well are kept; 3 if nothing is said.
  failedJobsHistoryLimit: How many Jobs that failed are kept; 1 if nothing is said.

CronJobStatus: How far it has come.
  active: Jobs that run now.
  lastScheduleTime: When the last Job was due.
  lastSuccessfulTime: When the last Job went well.

Service: One name and address for pods that come and go.

ServiceSpec: Which pods, and how they are reached.
  ports: The ports of the Service.
  selector: Labels of the pods that get the traffic. Without it somebody else writes the endpoints.
  clusterIP: The address inside of the cluster. Set by the server; None makes the Service headless: DNS then has the pods' own addresses.
  clusterIPs: All addresses inside of the cluster, one for each family. The first is clusterIP.
  type: ClusterIP (the default) is for inside of the cluster, NodePort adds a port of each node, LoadBalancer a load balancer; ExternalName is only a name.
  externalIPs: Addresses of nodes, beside its own, at which the Service is reached. Nobody in the cluster manages them.
  sessionAffinity: None (the default), or ClientIP: a client stays with its pod.
  sessionAffinityConfig: For how long.
  loadBalancerIP: Deprecated: the address that the load balancer should have.
  loadBalancerSourceRanges: From where the load balancer may be used.
  loadBalancerClass: Who makes the load balancer, if not the default one.
  allocateLoadBalancerNodePorts: Whether a load balancer gets node ports; true if nothing is said.
  externalName: The DNS name that an ExternalName Service stands for.
  externalTrafficPolicy: Where traffic from outside goes: Cluster (all pods) or Local (those on the node, which see the client's address).
  internalTrafficPolicy: The same for traffic from inside.
  trafficDistribution: A wish for how traffic is spread: PreferClose stays in the zone.
  healthCheckNodePort: The node port at which load balancers see whether a node has pods.
  publishNotReadyAddresses: Whether pods that are not ready are told too.
  ipFamilies: IPv4, IPv6 or both.
  ipFamilyPolicy: SingleStack, PreferDualStack or RequireDualStack.

ServicePort: A port of a Service.
  name: Its name. Needed when there is more than one.
  protocol: TCP (the default), UDP or SCTP.
  appProtocol: What is spoken on it.
  port: Its number.
  targetPort: The port of the pods, by number or by name; the same number if nothing is said.
  nodePort: The port of each node that leads here. Set by the server unless you choose it.

ServiceStatus: What has been found out.
  loadBalancer: Where the load balancer is reached.

Ingress: Leads HTTP from outside to Services, by host and path.

IngressSpec: The rules.
  ingressClassName: The IngressClass, and so the controller, that is to do it.
  defaultBackend: Where everything goes that no rule is for.
  tls: Hosts for which TLS is ended here.
  rules: Hosts and paths, and where they lead.

IngressRule: One host.
  host: The name of the host; *.example.com stands for one further label. All hosts if nothing is said.
  http: The paths of the host.

HTTPIngressRuleValue: Paths of a host.
  paths: The paths.

HTTPIngressPath: One path.
  path: The path. It begins with a slash.
  pathType: Exact, Prefix (by whole elements) or ImplementationSpecific.
  backend: Where it leads.

IngressBackend: Where traffic goes; one of these.
  service: A Service.
  resource: Another object, which the controller must know.

IngressServiceBackend: A Service in the namespace of the Ingress.
  name: Its name.
  port: Its port.

ServiceBackendPort: A port of a Service, one of these.
  name: By name.
  number: By number.

IngressTLS: Hosts that share a certificate.
  hosts: The hosts.
  secretName: The Secret with tls.crt and tls.key.

IngressStatus: What has been found out.
  loadBalancer: Where the Ingress is reached.

HorizontalPodAutoscaler: Changes the number of pods of a workload as its load changes.

HorizontalPodAutoscalerSpec: What to scale, and by what.
  scaleTargetRef: The workload. It must have the subresource scale.
  minReplicas: The least number of pods; 1 if nothing is said.
  maxReplicas: The greatest number of pods.
  metrics: What the load is measured by. The one that asks for most pods counts.
  behavior: How fast to scale up and down.
  targetCPUUtilizationPercentage: How much of its requested CPU a pod should use on average.

HorizontalPodAutoscalerStatus: How it does.
  lastScaleTime: When the number last changed.
  currentReplicas: How many pods there were when it last looked.
  desiredReplicas: How many there should be.
  currentMetrics: What was measured.
  currentCPUUtilizationPercentage: How much of its requested CPU a pod uses on average.

CrossVersionObjectReference: An object, whatever the version of its API.
  apiVersion: The group and version.
  kind: Its kind.
  name: Its name.

MetricSpec: One thing that is measured.
  type: Resource, ContainerResource, Pods, Object or External; the field of that name has the rest.
  resource: CPU or memory of the pods.
  containerResource: CPU or memory of one container of the pods.
  pods: A number that each pod has.
  object: A number that another object has.
  external: A number from outside of the cluster.

ResourceMetricSource: CPU or memory of pods.
  name: cpu or memory.
  target: What it should be.

MetricTarget: What a number should be.
  type: Utilization, Value or AverageValue.
  value: The number itself.
  averageValue: The number for each pod.
  averageUtilization: In percent of what pods request.

HorizontalPodAutoscalerBehavior: How fast to scale.
  scaleUp: Towards more pods.
  scaleDown: Towards fewer.

HPAScalingRules: How fast to scale in one direction.
  stabilizationWindowSeconds: How far to look back, so that the number does not jump about.
  selectPolicy: Max (the default), Min or Disabled: which of the policies counts.
  policies: How much may change in which time.
  tolerance: Which difference from the target is small enough to do nothing.

HPAScalingPolicy: How much may change in a time.
  type: Pods or Percent.
  value: How many.
  periodSeconds: The time.
`
