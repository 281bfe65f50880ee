/**
 * The kinds of this group that have rules of their own, by the kind as errors name it (and version,
 * where it matters).
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
