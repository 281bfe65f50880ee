/** Whether containers may do all that the node may is for whoever runs the cluster to say: --allow-privileged. */
import { type FieldFault, forbiddenField } from '../api/field-fault.ts'
import { type Fields, fieldsOf, type KubeObject } from '../api/object.ts'
import { containersOf } from './kinds/core/pod/windows.ts'

const workload: readonly string[] = ['spec', 'template', 'spec']

/** Where kinds have the specification of a Pod. */
const podSpecs: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['Pod', ['spec']],
  ['PodTemplate', ['template', 'spec']],
  ['ReplicationController', workload],
  ['ReplicaSet.apps', workload],
  ['Deployment.apps', workload],
  ['StatefulSet.apps', workload],
  ['DaemonSet.apps', workload],
  ['Job.batch', workload],
  ['CronJob.batch', ['spec', 'jobTemplate', ...workload]],
])

/** Undefined: objects of the kind have none. */
export function podSpecIn(object: KubeObject, kind: string): Fields | undefined {
  const path = podSpecs.get(kind)
  if (path === undefined) return undefined
  let spec: Fields = object
  for (const field of path) spec = fieldsOf(spec[field])
  return spec
}

/** What is wrong with an object of the kind where privileged containers are not allowed. */
export function validateUnprivileged(object: KubeObject, kind: string): FieldFault[] {
  const path = podSpecs.get(kind) ?? []
  const spec = podSpecIn(object, kind)
  if (spec === undefined) return []
  return containersOf(spec).flatMap(({ container, at }) =>
    fieldsOf(container['securityContext'])['privileged'] === true
      ? [forbiddenField(`${path.join('.')}.${at}.securityContext.privileged`, 'disallowed by cluster policy')]
      : [],
  )
}
