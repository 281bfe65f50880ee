/**
 * Seed objects of built-in kinds: objects and patches from the compat scenarios, and one object of
 * every kind.
 */
import { builtInResources } from '../../../src/registry/built-in.ts'
import { apiVersionOf, type Resource } from '../../../src/registry/resource.ts'
import { readSet } from '../../clients/every-kind.ts'
import { mediaType } from '../../recorded/compat/client.ts'
import { asRecorded, isRecord, type Json, type JsonObject } from '../../recorded/compat/json.ts'
import { loadScenarios } from '../../recorded/compat/scenarios.ts'
import { textAt } from './json-positions.ts'

/**
 * Maximum length of a seed object. Longer objects in the scenarios test length limits, and are
 * slow.
 */
const LENGTH_MAX = 6_000
/**
 * Maximum number of objects of a kind. The scenarios have thousands of ConfigMaps that hardly
 * differ.
 */
const OBJECTS_PER_KIND_MAX = 300

/**
 * Resources whose objects are not used. CustomResourceDefinitions have their own area, `crds`.
 * APIServices and ComponentStatuses depend on other servers.
 */
const leftOut = new Set(['customresourcedefinitions', 'apiservices', 'componentstatuses'])

export type KnownPatch = { readonly type: string; readonly body: Json; readonly suffix: string }

/** Seed objects of one kind in one version. `path` is the path of the collection. */
export type KindSeeds = {
  readonly path: string
  readonly objects: JsonObject[]
  readonly patches: KnownPatch[]
}

export async function loadSeeds(): Promise<readonly KindSeeds[]> {
  const resources = builtInResources().filter(
    ({ isStored, plural }) => isStored && !leftOut.has(plural),
  )
  const byKind = new Map(
    resources.map((resource) => [`${apiVersionOf(resource)} ${resource.kind}`, newSeeds(resource)]),
  )
  const byPath = new Map([...byKind.values()].map((seeds) => [seeds.path, seeds]))
  const seen = new Set<string>()
  const add = (given: unknown): void => {
    const object = asRecorded(given)
    const text = JSON.stringify(object)
    if (!isRecord(object) || text.length > LENGTH_MAX || text.includes('${') || seen.has(text))
      return
    seen.add(text)
    const seeds = byKind.get(`${textAt(object, 'apiVersion')} ${textAt(object, 'kind')}`)
    if (seeds !== undefined && seeds.objects.length < OBJECTS_PER_KIND_MAX)
      seeds.objects.push(object)
  }
  for (const { object } of readSet({ name: '$ns', number: 1 })) add(object)
  for (const { steps } of await loadScenarios()) {
    for (const step of steps) {
      if (step.kind !== 'request') continue
      if (step.method === 'POST') add(step.body)
      if (step.method === 'PATCH')
        addPatch(byPath, step.path, { type: step.type ?? '', body: step.body })
    }
  }
  return [...byKind.values()].filter(({ objects }) => objects.length > 0)
}

const newSeeds = ({ group, version, plural, isNamespaced }: Resource): KindSeeds => ({
  path: `${group === '' ? '/api' : `/apis/${group}`}/${version}/${isNamespaced ? 'namespaces/$ns/' : ''}${plural}`,
  objects: [],
  patches: [],
})

function addPatch(
  byPath: ReadonlyMap<string, KindSeeds>,
  path: string,
  { type, body: given }: { readonly type: string; readonly body: unknown },
): void {
  const [, collection = '', suffix = ''] =
    /^(.*\/[a-z]+)\/[^/]+(\/status|\/scale)?$/.exec(
      path.replace('/namespaces/default/', '/namespaces/$ns/'),
    ) ?? []
  const body = asRecorded(given)
  const text = JSON.stringify(body)
  if (typeof body !== 'object' || text.length > LENGTH_MAX || text.includes('${')) return
  byPath.get(collection)?.patches.push({ type: mediaType(type), body, suffix })
}
