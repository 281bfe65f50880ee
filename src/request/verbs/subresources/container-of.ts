/** Finds the container that a request for a pod refers to. */
import { badRequest } from '../../../api/errors.ts'
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../../api/object.ts'

const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const

/**
 * Returns the name of the container. Fails with BadRequest if the pod has no container with the
 * given name. If no name is given, also fails if the pod has several containers.
 */
export function containerOf(pod: KubeObject, name: string): string {
  const spec = fieldsOf(pod['spec'])
  const podName = pod.metadata.name ?? ''
  const all = lists.flatMap((list) =>
    itemsOf(spec[list]).map((container) => textOf(container['name'])),
  )
  if (name !== '') {
    if (all.includes(name)) return name
    throw badRequest(`container ${name} is not valid for pod ${podName}`)
  }
  const [only, ...others] = itemsOf(spec['containers']).map((container) =>
    textOf(container['name']),
  )
  if (only !== undefined && others.length === 0) return only
  throw badRequest(
    `a container name must be specified for pod ${podName}, choose one of: [${all.join(' ')}]`,
  )
}
