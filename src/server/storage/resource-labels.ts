/** The labels that identify a resource in metrics of etcd requests. */
import { resourcesOf } from '../../registry/read-resources.ts'
import { resourcePrefix } from '../../storage/keys.ts'
import type { ResourceLabels } from '../../storage/measured-engine.ts'

/** The first release whose metrics have the group of a resource. */
const GROUPS_SINCE = 34

export function resourceLabels(release: number): ResourceLabels {
  if (release < GROUPS_SINCE) return { names: ['type'], of: (path) => [segmentsOf(path)[0]] }
  const builtIn = new Map<string, readonly string[]>()
  for (const { group, plural } of resourcesOf(release)) {
    const folder = resourcePrefix({ group, plural, isCustom: false })
    // The events of both API groups share one folder. The first group is the one that stores them.
    if (!builtIn.has(folder)) builtIn.set(folder, [group, plural])
  }
  return {
    names: ['group', 'resource'],
    of: (path) => {
      const [first, second] = segmentsOf(path)
      return builtIn.get(`${first}/${second}`) ?? builtIn.get(first) ?? [first, second]
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
