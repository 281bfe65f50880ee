/**
 * Kinds that no path serves: versions of long ago, which may still lie in a database, and what goes to others than us. They are written by
 * hand, since most are other names for types of today; test/recorded/golden has an object of each. Two types of admissionregistration/v1alpha1 are
 * here because Go declares them by those of v1.
 */
export const unservedTypes = `
package admission/v1

AdmissionReview
  ...meta.TypeMeta
  request *AdmissionRequest 1
  response *AdmissionResponse 2

AdmissionRequest
  uid! UID 1
  kind! GroupVersionKind 2
  resource! GroupVersionResource 3
  subResource string 4
  requestKind *GroupVersionKind 13
  requestResource *GroupVersionResource 14
  requestSubResource string 15
  name string 5
  namespace string 6
  operation! string 7
  userInfo! authentication.UserInfo 8
  object RawExtension 9
  oldObject RawExtension 10
  dryRun *bool 11
  options RawExtension 12

AdmissionResponse
  uid! UID 1
  allowed! bool 2
  status *meta.Status 3
  patch []byte 4
  patchType *string 5
  auditAnnotations map[string]string 6
  warnings []string 7

GroupVersionKind
  group! string 1
  version! string 2
  kind! string 3

GroupVersionResource
  group! string 1
  version! string 2
  resource! string 3

package admission/v1beta1

AdmissionReview = admission.AdmissionReview

package admissionregistration/v1alpha1

MatchCondition
  name! string 1
  expression! string 2

ReinvocationPolicyType = string: IfNeeded|Never
RuleWithOperations = admissionregistration.RuleWithOperations
ValidatingAdmissionPolicy = admissionregistration.ValidatingAdmissionPolicy
ValidatingAdmissionPolicyBinding = admissionregistration.ValidatingAdmissionPolicyBinding

package admissionregistration/v1beta1

MutatingWebhookConfiguration = admissionregistration.MutatingWebhookConfiguration
RuleWithOperations = admissionregistration.RuleWithOperations
ValidatingWebhookConfiguration = admissionregistration.ValidatingWebhookConfiguration

package apidiscovery/v2beta1

APIGroupDiscovery = apidiscovery/v2.APIGroupDiscovery

package apiextensions/v1beta1

ConversionReview = apiextensions.ConversionReview

CustomResourceDefinition
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! CustomResourceDefinitionSpec 2
  status CustomResourceDefinitionStatus 3

CustomResourceDefinitionSpec
  group! string 1
  version string 2
  names! CustomResourceDefinitionNames 3
  scope! ResourceScope 4
  validation *CustomResourceValidation 5
  subresources *CustomResourceSubresources 6
  versions []CustomResourceDefinitionVersion 7
  additionalPrinterColumns []CustomResourceColumnDefinition 8
  selectableFields []SelectableField 11
  conversion *CustomResourceConversion 9
  preserveUnknownFields *bool 10

CustomResourceConversion
  strategy! string 1
  webhookClientConfig *apiextensions.WebhookClientConfig 2
  conversionReviewVersions []string 3

CustomResourceDefinitionVersion
  name! string 1
  served! bool 2
  storage! bool 3
  deprecated bool 7
  deprecationWarning *string 8
  schema *CustomResourceValidation 4
  subresources *CustomResourceSubresources 5
  additionalPrinterColumns []CustomResourceColumnDefinition 6
  selectableFields []SelectableField 9

CustomResourceColumnDefinition
  name! string 1
  type! string 2
  format string 3
  description string 4
  priority int32 5
  JSONPath! string 6

CustomResourceDefinitionNames = apiextensions.CustomResourceDefinitionNames
CustomResourceDefinitionStatus = apiextensions.CustomResourceDefinitionStatus
CustomResourceSubresources = apiextensions.CustomResourceSubresources
CustomResourceValidation = apiextensions.CustomResourceValidation
ResourceScope = string
SelectableField = apiextensions.SelectableField

package apiregistration/v1beta1

APIService = apiregistration.APIService

package apps/v1beta1

ControllerRevision = apps.ControllerRevision
StatefulSet = apps.StatefulSet

Deployment
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec DeploymentSpec 2
  status apps.DeploymentStatus 3

DeploymentSpec
  replicas *int32 1
  selector *meta.LabelSelector 2
  template! core.PodTemplateSpec 3
  strategy apps.DeploymentStrategy 4
  minReadySeconds int32 5
  revisionHistoryLimit *int32 6
  paused bool 7
  rollbackTo *RollbackConfig 8
  progressDeadlineSeconds *int32 9

DeploymentRollback
  ...meta.TypeMeta
  name! string 1
  updatedAnnotations map[string]string 2
  rollbackTo! RollbackConfig 3

RollbackConfig
  revision int64 1

Scale
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec ScaleSpec 2
  status ScaleStatus 3

ScaleSpec
  replicas int32 1

ScaleStatus
  replicas! int32 1
  selector map[string]string 2
  targetSelector string 3

package apps/v1beta2

ControllerRevision = apps.ControllerRevision
DaemonSet = apps.DaemonSet
Deployment = apps.Deployment
ReplicaSet = apps.ReplicaSet
Scale = apps/v1beta1.Scale
StatefulSet = apps.StatefulSet

package authentication/v1alpha1

SelfSubjectReview = authentication.SelfSubjectReview

package authentication/v1beta1

SelfSubjectReview = authentication.SelfSubjectReview
TokenReview = authentication.TokenReview

package authorization/v1beta1

SelfSubjectAccessReview = authorization.SelfSubjectAccessReview
SelfSubjectRulesReview = authorization.SelfSubjectRulesReview

LocalSubjectAccessReview
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! SubjectAccessReviewSpec 2
  status authorization.SubjectAccessReviewStatus 3

SubjectAccessReview
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! SubjectAccessReviewSpec 2
  status authorization.SubjectAccessReviewStatus 3

SubjectAccessReviewSpec
  resourceAttributes *authorization.ResourceAttributes 1
  nonResourceAttributes *authorization.NonResourceAttributes 2
  user string 3
  group []string 4
  extra map[string]authorization.ExtraValue 5
  uid string 6

package autoscaling/v2beta1

HorizontalPodAutoscaler @33-35
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec HorizontalPodAutoscalerSpec 2
  status HorizontalPodAutoscalerStatus 3

HorizontalPodAutoscalerSpec
  scaleTargetRef! autoscaling.CrossVersionObjectReference 1
  minReplicas *int32 2
  maxReplicas! int32 3
  metrics []MetricSpec 4

MetricSpec
  type! string 1
  object *ObjectMetricSource 2
  pods *PodsMetricSource 3
  resource *ResourceMetricSource 4
  containerResource *ContainerResourceMetricSource 7
  external *ExternalMetricSource 5

ObjectMetricSource
  target! autoscaling.CrossVersionObjectReference 1
  metricName! string 2
  targetValue! Quantity 3
  selector *meta.LabelSelector 4
  averageValue *Quantity 5

PodsMetricSource
  metricName! string 1
  targetAverageValue! Quantity 2
  selector *meta.LabelSelector 3

ResourceMetricSource
  name! string 1
  targetAverageUtilization *int32 2
  targetAverageValue *Quantity 3

ContainerResourceMetricSource
  name! string 1
  targetAverageUtilization *int32 2
  targetAverageValue *Quantity 3
  container! string 4

ExternalMetricSource
  metricName! string 1
  metricSelector *meta.LabelSelector 2
  targetValue *Quantity 3
  targetAverageValue *Quantity 4

HorizontalPodAutoscalerStatus
  observedGeneration *int64 1
  lastScaleTime *meta.Time 2
  currentReplicas! int32 3
  desiredReplicas! int32 4
  currentMetrics+ []MetricStatus 5
  conditions+ []autoscaling/v2.HorizontalPodAutoscalerCondition 6

MetricStatus
  type! string 1
  object *ObjectMetricStatus 2
  pods *PodsMetricStatus 3
  resource *ResourceMetricStatus 4
  containerResource *ContainerResourceMetricStatus 7
  external *ExternalMetricStatus 5

ObjectMetricStatus
  target! autoscaling.CrossVersionObjectReference 1
  metricName! string 2
  currentValue! Quantity 3
  selector *meta.LabelSelector 4
  averageValue *Quantity 5

PodsMetricStatus
  metricName! string 1
  currentAverageValue! Quantity 2
  selector *meta.LabelSelector 3

ResourceMetricStatus
  name! string 1
  currentAverageUtilization *int32 2
  currentAverageValue! Quantity 3

ContainerResourceMetricStatus
  name! string 1
  currentAverageUtilization *int32 2
  currentAverageValue! Quantity 3
  container! string 4

ExternalMetricStatus
  metricName! string 1
  metricSelector *meta.LabelSelector 2
  currentValue! Quantity 3
  currentAverageValue *Quantity 4

package autoscaling/v2beta2

HorizontalPodAutoscaler = autoscaling/v2.HorizontalPodAutoscaler @33-35

package batch/v1beta1

CronJob = batch.CronJob

package certificates/v1beta1

CertificateSigningRequest
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! CertificateSigningRequestSpec 2
  status certificates.CertificateSigningRequestStatus 3

CertificateSigningRequestSpec
  request! []byte 1 atomic
  signerName *string 7
  expirationSeconds *int32 8
  usages []string 5 atomic
  username string 2
  uid string 3
  groups []string 4 atomic
  extra map[string]certificates.ExtraValue 6

package coordination/v1beta1

Lease = coordination.Lease

package core/v1

List
  ...meta.TypeMeta
  metadata meta.ListMeta 1
  items! []RawExtension 2

NodeProxyOptions
  ...meta.TypeMeta
  path string 1

PodAttachOptions
  ...meta.TypeMeta
  stdin bool 1
  stdout bool 2
  stderr bool 3
  tty bool 4
  container string 5

PodExecOptions
  ...meta.TypeMeta
  stdin bool 1
  stdout bool 2
  stderr bool 3
  tty bool 4
  container string 5
  command! []string 6

PodLogOptions
  ...meta.TypeMeta
  container string 1
  follow bool 2
  previous bool 3
  sinceSeconds *int64 4
  sinceTime *meta.Time 5
  timestamps bool 6
  tailLines *int64 7
  limitBytes *int64 8
  insecureSkipTLSVerifyBackend bool 9
  stream *string 10

PodPortForwardOptions
  ...meta.TypeMeta
  ports []int32 1

PodProxyOptions = NodeProxyOptions
ServiceProxyOptions = NodeProxyOptions

PodStatusResult @33-36
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  status PodStatus 2

RangeAllocation
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  range! string 2
  data! []byte 3

SerializedReference
  ...meta.TypeMeta
  reference ObjectReference 1

package discovery/v1beta1

EndpointSlice
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  addressType! string 4
  endpoints! []Endpoint 2
  ports+ []discovery.EndpointPort 3

Endpoint
  addresses! []string 1
  conditions discovery.EndpointConditions 2
  hostname *string 3
  targetRef *core.ObjectReference 4
  topology map[string]string 5
  nodeName *string 6
  hints *discovery.EndpointHints 7

package events/v1beta1

Event = events.Event

package extensions/v1beta1

Deployment = apps/v1beta1.Deployment
DeploymentRollback = apps/v1beta1.DeploymentRollback
Ingress = networking/v1beta1.Ingress
NetworkPolicy = networking.NetworkPolicy
ReplicaSet = apps.ReplicaSet
Scale = apps/v1beta1.Scale

DaemonSet
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec DaemonSetSpec 2
  status apps.DaemonSetStatus 3

DaemonSetSpec
  selector *meta.LabelSelector 1
  template! core.PodTemplateSpec 2
  updateStrategy apps.DaemonSetUpdateStrategy 3
  minReadySeconds int32 4
  templateGeneration int64 5
  revisionHistoryLimit *int32 6

package flowcontrol/v1beta1

FlowSchema = flowcontrol.FlowSchema

PriorityLevelConfiguration
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec PriorityLevelConfigurationSpec 2
  status flowcontrol.PriorityLevelConfigurationStatus 3

PriorityLevelConfigurationSpec
  type! string 1
  limited *LimitedPriorityLevelConfiguration 2
  exempt *flowcontrol.ExemptPriorityLevelConfiguration 3

LimitedPriorityLevelConfiguration
  assuredConcurrencyShares+ int32 1
  limitResponse flowcontrol.LimitResponse 2
  lendablePercent *int32 3
  borrowingLimitPercent *int32 4

package flowcontrol/v1beta2

FlowSchema = flowcontrol.FlowSchema
PriorityLevelConfiguration = flowcontrol/v1beta1.PriorityLevelConfiguration

package flowcontrol/v1beta3

FlowSchema = flowcontrol.FlowSchema
PriorityLevelConfiguration = flowcontrol.PriorityLevelConfiguration

package imagepolicy/v1alpha1

ImageReview
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! ImageReviewSpec 2
  status ImageReviewStatus 3

ImageReviewSpec
  containers []ImageReviewContainerSpec 1
  annotations map[string]string 2
  namespace string 3

ImageReviewContainerSpec
  image string 1

ImageReviewStatus
  allowed! bool 1
  reason string 2
  auditAnnotations map[string]string 3

package meta/v1

WatchEvent
  type! string 1
  object! RawExtension 2

package networking/v1alpha1

IPAddress = networking.IPAddress @33
ServiceCIDR = networking.ServiceCIDR @33

package networking/v1beta1

IngressClass = networking.IngressClass

Ingress
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec IngressSpec 2
  status networking.IngressStatus 3

IngressSpec
  ingressClassName *string 4
  backend *IngressBackend 1
  tls []networking.IngressTLS 2
  rules []IngressRule 3

IngressBackend
  serviceName string 1
  servicePort IntOrString 2
  resource *core.TypedLocalObjectReference 3

IngressRule
  host string 1
  ...IngressRuleValue 2

IngressRuleValue
  http *HTTPIngressRuleValue 1

HTTPIngressRuleValue
  paths! []HTTPIngressPath 1

HTTPIngressPath
  path string 1
  pathType *string 3
  backend! IngressBackend 2

package node/v1alpha1

RuntimeClass
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! RuntimeClassSpec 2

RuntimeClassSpec
  runtimeHandler! string 1
  overhead *node.Overhead 2
  scheduling *node.Scheduling 3

package node/v1beta1

RuntimeClass = node.RuntimeClass

package policy/v1beta1

Eviction = policy.Eviction
PodDisruptionBudget = policy.PodDisruptionBudget

package rbac/v1alpha1

ClusterRole
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  rules! []PolicyRule 2
  aggregationRule *rbac.AggregationRule 3

Role
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  rules! []PolicyRule 2

PolicyRule
  verbs! []string 1
  apiGroups []string 3
  resources []string 4
  resourceNames []string 5
  nonResourceURLs []string 6

ClusterRoleBinding
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  subjects []Subject 2
  roleRef! rbac.RoleRef 3

RoleBinding
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  subjects []Subject 2
  roleRef! rbac.RoleRef 3

Subject
  kind! string 1
  apiVersion string 2
  name! string 3
  namespace string 4

package rbac/v1beta1

ClusterRole = rbac.ClusterRole
ClusterRoleBinding = rbac.ClusterRoleBinding
Role = rbac.Role
RoleBinding = rbac.RoleBinding

package scheduling/v1alpha1

PriorityClass = scheduling.PriorityClass @33-35

package scheduling/v1beta1

PriorityClass = scheduling.PriorityClass

package storage/v1alpha1

CSIStorageCapacity = storage.CSIStorageCapacity
VolumeAttachment = storage.VolumeAttachment

package storage/v1beta1

CSIDriver = storage.CSIDriver
CSINode = storage.CSINode
CSIStorageCapacity = storage.CSIStorageCapacity
StorageClass = storage.StorageClass
VolumeAttachment = storage.VolumeAttachment
`
