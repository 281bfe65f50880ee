/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const autoscalingTypes = `
package autoscaling/v1

CrossVersionObjectReference atomic
  kind! string 1
  name! string 2
  apiVersion string 3

HorizontalPodAutoscalerSpec
  scaleTargetRef! CrossVersionObjectReference 1
  minReplicas *int32 2
  maxReplicas! int32 3
  targetCPUUtilizationPercentage *int32 4

HorizontalPodAutoscalerStatus
  observedGeneration *int64 1
  lastScaleTime *meta.Time 2
  currentReplicas! int32 3
  desiredReplicas! int32 4
  currentCPUUtilizationPercentage *int32 5

HorizontalPodAutoscaler
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec HorizontalPodAutoscalerSpec 2
  status HorizontalPodAutoscalerStatus 3

Scale
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec ScaleSpec 2
  status ScaleStatus 3

ScaleSpec
  replicas int32 1

ScaleStatus
  replicas! int32 1
  selector string 2

package autoscaling/v2

ScalingPolicySelect = string
HPAScalingPolicyType = string
MetricSourceType = string
MetricTargetType = string
HorizontalPodAutoscalerConditionType = string

HorizontalPodAutoscaler
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec HorizontalPodAutoscalerSpec 2
  status HorizontalPodAutoscalerStatus 3

HorizontalPodAutoscalerSpec
  scaleTargetRef! CrossVersionObjectReference 1
  minReplicas *int32 2
  maxReplicas! int32 3
  metrics []MetricSpec 4 atomic
  behavior *HorizontalPodAutoscalerBehavior 5

CrossVersionObjectReference
  kind! string 1
  name! string 2
  apiVersion string 3

MetricSpec
  type! MetricSourceType 1
  object *ObjectMetricSource 2
  pods *PodsMetricSource 3
  resource *ResourceMetricSource 4
  containerResource *ContainerResourceMetricSource 7
  external *ExternalMetricSource 5

HorizontalPodAutoscalerBehavior
  scaleUp *HPAScalingRules 1
  scaleDown *HPAScalingRules 2

HPAScalingRules
  stabilizationWindowSeconds *int32 3
  selectPolicy *ScalingPolicySelect 1
  policies []HPAScalingPolicy 2 atomic
  tolerance *Quantity 4 gate=HPAConfigurableTolerance

HPAScalingPolicy
  type! HPAScalingPolicyType 1
  value! int32 2
  periodSeconds! int32 3

ObjectMetricSource
  describedObject! CrossVersionObjectReference 1
  target! MetricTarget 2
  metric! MetricIdentifier 3

PodsMetricSource
  metric! MetricIdentifier 1
  target! MetricTarget 2

ResourceMetricSource
  name! core.ResourceName 1
  target! MetricTarget 2

ContainerResourceMetricSource
  name! core.ResourceName 1
  target! MetricTarget 2
  container! string 3

ExternalMetricSource
  metric! MetricIdentifier 1
  target! MetricTarget 2

MetricIdentifier
  name! string 1
  selector *meta.LabelSelector 2

MetricTarget
  type! MetricTargetType 1
  value *Quantity 2
  averageValue *Quantity 3
  averageUtilization *int32 4

HorizontalPodAutoscalerStatus
  observedGeneration *int64 1
  lastScaleTime *meta.Time 2
  currentReplicas int32 3
  desiredReplicas! int32 4
  currentMetrics+ []MetricStatus 5 atomic
  conditions []HorizontalPodAutoscalerCondition 6 map=type patch=merge key=type

HorizontalPodAutoscalerCondition
  type! HorizontalPodAutoscalerConditionType 1
  status! core.ConditionStatus 2
  lastTransitionTime meta.Time 3
  reason string 4
  message string 5

MetricStatus
  type! MetricSourceType 1
  object *ObjectMetricStatus 2
  pods *PodsMetricStatus 3
  resource *ResourceMetricStatus 4
  containerResource *ContainerResourceMetricStatus 7
  external *ExternalMetricStatus 5

ObjectMetricStatus
  metric! MetricIdentifier 1
  current! MetricValueStatus 2
  describedObject! CrossVersionObjectReference 3

PodsMetricStatus
  metric! MetricIdentifier 1
  current! MetricValueStatus 2

ResourceMetricStatus
  name! core.ResourceName 1
  current! MetricValueStatus 2

ContainerResourceMetricStatus
  name! core.ResourceName 1
  current! MetricValueStatus 2
  container! string 3

ExternalMetricStatus
  metric! MetricIdentifier 1
  current! MetricValueStatus 2

MetricValueStatus
  value *Quantity 1
  averageValue *Quantity 2
  averageUtilization *int32 3
`
