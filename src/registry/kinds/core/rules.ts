/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. If the rules differ between API versions, the key ends with the version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { configMapRules } from './config-map.ts'
import { endpointsRules } from './endpoints.ts'
import { namespaceRules } from './namespace.ts'
import { limitRangeRules } from './limit-range.ts'
import { nodeRules } from './node.ts'
import { persistentVolumeClaimRules } from './persistent-volume-claim.ts'
import { persistentVolumeRules } from './persistent-volume.ts'
import { podRules } from './pod.ts'
import { podTemplateRules } from './pod-template.ts'
import { replicationControllerRules } from './replication-controller.ts'
import { resourceQuotaRules } from './resource-quota.ts'
import { secretRules } from './secret.ts'
import { serviceAccountRules } from './service-account.ts'
import { serviceRules } from './service.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['ConfigMap', configMapRules],
  ['Endpoints', endpointsRules],
  ['LimitRange', limitRangeRules],
  ['Namespace', namespaceRules],
  ['Node', nodeRules],
  ['PersistentVolume', persistentVolumeRules],
  ['PersistentVolumeClaim', persistentVolumeClaimRules],
  ['Pod', podRules],
  ['PodTemplate', podTemplateRules],
  ['ReplicationController', replicationControllerRules],
  ['ResourceQuota', resourceQuotaRules],
  ['Secret', secretRules],
  ['Service', serviceRules],
  ['ServiceAccount', serviceAccountRules],
]
