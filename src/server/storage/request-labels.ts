/** The labels of metrics of etcd requests, which identify the operation and the resource. */
import { resourcesOf } from '../../registry/read-resources.ts'
import { resourcePrefix } from '../../storage/keys.ts'
import type { RequestLabels } from '../../storage/measured-engine.ts'

/** The first release whose metrics have the group of a resource. */
const GROUPS_SINCE = 34

export function requestLabels(release: number): RequestLabels {
  if (release < GROUPS_SINCE) {
    return {
      names: ['operation', 'type'],
      of: (path, operation) => [operation, segmentsOf(path)[0]],
    }
  }
  const builtIn = new Map<string, readonly [group: string, resource: string]>()
  for (const { group, plural } of resourcesOf(release)) {
    const folder = resourcePrefix({ group, plural, isCustom: false })
    // The events of both API groups share one folder. The first group is the one that stores them.
    if (!builtIn.has(folder)) builtIn.set(folder, [group, plural])
  }
  return {
    names: ['group', 'operation', 'resource'],
    of: (path, operation) => {
      const [first, second] = segmentsOf(path)
      const [group, resource] = builtIn.get(`${first}/${second}`) ??
        builtIn.get(first) ?? [first, second]
      return [group, operation, resource]
    },
  }
}

/**
 * Returns the first two segments of a path. The first one is the resource or, for custom resources,
 * the group.
 */
function segmentsOf(path: string): readonly [string, string] {
  const [first = '', second = ''] = path.split('/', 2)
  return [first, second]
}
