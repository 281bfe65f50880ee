/**
 * Rules of the kinds in this group. The key is the kind as errors show it, followed by a version if
 * the rules depend on it.
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
