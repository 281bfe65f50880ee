/** The kinds that have rules of their own, by the name that errors give them; and by version, where that makes a difference. */
import type { KindRules } from '../kind-rules.ts'
import { apiServiceRules } from './api-service.ts'
import { configMapRules } from './config-map.ts'
import { customResourceDefinitionRules } from './custom-resource-definition.ts'
import { cronJobRules } from './cron-job.ts'
import { coreEventRules, newEventRules } from './event.ts'
import { autoscalerV1Rules, autoscalerV2Rules } from './horizontal-pod-autoscaler.ts'
import { jobRules } from './job.ts'
import { leaseRules } from './lease.ts'
import { namespaceRules } from './namespace.ts'
import { persistentVolumeClaimRules, persistentVolumeRules } from './persistent-volume.ts'
import { podRules } from './pod.ts'
import { priorityClassRules } from './priority-class.ts'
import { secretRules } from './secret.ts'
import { certificateSigningRequestRules, nodeRules, replicationControllerRules } from './selectable.ts'
import { serviceRules } from './service.ts'
import { serviceAccountRules } from './service-account.ts'

export const rulesByKind: ReadonlyMap<string, KindRules> = new Map([
  ['APIService.apiregistration.k8s.io', apiServiceRules],
  ['CertificateSigningRequest.certificates.k8s.io', certificateSigningRequestRules],
  ['ConfigMap', configMapRules],
  ['CronJob.batch', cronJobRules],
  ['CustomResourceDefinition.apiextensions.k8s.io', customResourceDefinitionRules],
  ['Event', coreEventRules],
  ['Event.events.k8s.io', newEventRules],
  ['HorizontalPodAutoscaler.autoscaling v1', autoscalerV1Rules],
  ['HorizontalPodAutoscaler.autoscaling v2', autoscalerV2Rules],
  ['Job.batch', jobRules],
  ['Lease.coordination.k8s.io', leaseRules],
  ['Namespace', namespaceRules],
  ['Node', nodeRules],
  ['PersistentVolume', persistentVolumeRules],
  ['PersistentVolumeClaim', persistentVolumeClaimRules],
  ['Pod', podRules],
  ['PriorityClass.scheduling.k8s.io', priorityClassRules],
  ['ReplicationController', replicationControllerRules],
  ['Secret', secretRules],
  ['Service', serviceRules],
  ['ServiceAccount', serviceAccountRules],
])
