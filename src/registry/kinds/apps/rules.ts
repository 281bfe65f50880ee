/**
 * Rules of the kinds in this API group. Each key is a kind in the form used in error messages, such
 * as `Deployment.apps`. If the rules differ between API versions, the key ends with the version.
 */
import type { KindRules } from '../../kind-rules.ts'
import { controllerRevisionRules } from './controller-revision.ts'
import { daemonSetRules } from './daemon-set.ts'
import { deploymentRules } from './deployment.ts'
import { replicaSetRules } from './replica-set.ts'
import { statefulSetRules } from './stateful-set.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['ControllerRevision.apps', controllerRevisionRules],
  ['DaemonSet.apps', daemonSetRules],
  ['Deployment.apps', deploymentRules],
  ['ReplicaSet.apps', replicaSetRules],
  ['StatefulSet.apps', statefulSetRules],
]
