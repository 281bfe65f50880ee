import { type Fields, fieldsOf, type KubeObject } from '../api/object.ts'

const workload: readonly string[] = ['spec', 'template', 'spec']

/** Path of the PodSpec in each kind that contains one. */
const paths: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
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

/** Metadata and spec of a Pod or a Pod template. */
export type PodTemplateSpec = { readonly metadata: Fields; readonly spec: Fields }

/**
 * Returns the Pod or Pod template in an object, with the path of the PodSpec. Undefined if the kind
 * contains neither.
 */
export function podSpecOf(
  object: KubeObject,
  kind: string,
): (PodTemplateSpec & { readonly path: string }) | undefined {
  const path = paths.get(kind)
  if (path === undefined) return undefined
  let owner: Fields = object
  for (const field of path.slice(0, -1)) owner = fieldsOf(owner[field])
  return {
    metadata: fieldsOf(owner['metadata']),
    spec: fieldsOf(owner['spec']),
    path: path.join('.'),
  }
}
