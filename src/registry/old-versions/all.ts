/**
 * Conversions to the current storage version from versions that are no longer served, but in which
 * objects can still be stored. A version that differs only in its name needs no conversion and is
 * only listed in the catalog. If an old version has other defaults than the new version, its
 * conversion sets them.
 */
import type { KubeObject } from '../../api/object.ts'
import { toStored as autoscalerToStored } from '../kinds/autoscaling/horizontal-pod-autoscaler.ts'
import { toStored as eventToStored } from '../kinds/events/event.ts'
import { autoscaler, endpointSlice, oldPriorityLevel, priorityLevel } from './cluster.ts'
import {
  budget,
  certificateRequest,
  role,
  roleBinding,
  runtimeClass,
  webhooks,
} from './policies.ts'
import { ingress } from './ingress.ts'
import {
  daemonSet,
  deployment,
  extensionsDeployment,
  replicaSet,
  statefulSet,
} from './workloads.ts'

export type FromOldVersion = (object: KubeObject) => KubeObject

/** Conversions, keyed by the apiVersion and kind of the stored object. */
export const oldVersions: ReadonlyMap<string, FromOldVersion> = new Map<string, FromOldVersion>([
  ['admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration', webhooks],
  ['admissionregistration.k8s.io/v1beta1 ValidatingWebhookConfiguration', webhooks],
  ['apps/v1beta1 Deployment', deployment],
  ['apps/v1beta1 StatefulSet', statefulSet],
  ['autoscaling/v1 HorizontalPodAutoscaler', autoscalerToStored],
  ['autoscaling/v2beta1 HorizontalPodAutoscaler', autoscaler],
  ['certificates.k8s.io/v1beta1 CertificateSigningRequest', certificateRequest],
  ['discovery.k8s.io/v1beta1 EndpointSlice', endpointSlice],
  ['events.k8s.io/v1 Event', eventToStored],
  ['events.k8s.io/v1beta1 Event', eventToStored],
  ['extensions/v1beta1 DaemonSet', daemonSet],
  ['extensions/v1beta1 Deployment', extensionsDeployment],
  ['extensions/v1beta1 Ingress', ingress],
  ['extensions/v1beta1 ReplicaSet', replicaSet],
  ['flowcontrol.apiserver.k8s.io/v1beta1 PriorityLevelConfiguration', oldPriorityLevel],
  ['flowcontrol.apiserver.k8s.io/v1beta2 PriorityLevelConfiguration', oldPriorityLevel],
  ['flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration', priorityLevel],
  ['networking.k8s.io/v1beta1 Ingress', ingress],
  ['node.k8s.io/v1alpha1 RuntimeClass', runtimeClass],
  ['policy/v1beta1 PodDisruptionBudget', budget],
  ['rbac.authorization.k8s.io/v1alpha1 ClusterRole', role],
  ['rbac.authorization.k8s.io/v1alpha1 ClusterRoleBinding', roleBinding],
  ['rbac.authorization.k8s.io/v1alpha1 Role', role],
  ['rbac.authorization.k8s.io/v1alpha1 RoleBinding', roleBinding],
])
