import { type Fields, fieldsOf, type KubeObject } from '../api/object.ts'

const workload: readonly string[] = ['spec', 'template', 'spec']

/** Where kinds have the specification of a Pod. */
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

/** That of an object of the kind, and its path; undefined: such objects have none. */
export function podSpecOf(
  object: KubeObject,
  kind: string,
): { readonly spec: Fields; readonly path: string } | undefined {
  const path = paths.get(kind)
  if (path === undefined) return undefined
  let spec: Fields = object
  for (const field of path) spec = fieldsOf(spec[field])
  return { spec, path: path.join('.') }
}
