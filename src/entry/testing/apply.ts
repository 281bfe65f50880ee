/** Applies manifests to a test cluster. */
import { isFields, type Json } from '../../api/object.ts'
import { parseJson } from '../../api/json-value.ts'
import type { ApiClient } from '../apply/api-client.ts'
import { applyManifests } from '../apply/apply-manifests.ts'
import {
  addManifests,
  type Manifest,
  type ParsedManifests,
  parseManifests,
  withoutDuplicates,
} from '../apply/parse-manifests.ts'
import { readManifests } from '../apply/read-manifests.ts'
import { scan } from '../apply/scan.ts'
import type { StoredObject } from './write.ts'

/**
 * The source of manifests: the path of a file or folder, a text with YAML documents or JSON, an
 * object, or a list of objects.
 */
export type ApplySource = string | object | readonly object[]

/**
 * Applies all manifests of the source. Returns the applied objects in the order of the manifests.
 * If a manifest cannot be read, applies nothing. If a manifest cannot be read or applied, throws an
 * error with a line for each such manifest.
 */
export async function apply(source: ApplySource, client: ApiClient): Promise<StoredObject[]> {
  const read = await readSource(source)
  const { manifests, faults } = withoutDuplicates(read.manifests)
  failWith([...read.faults, ...faults])
  if (manifests.length === 0) throw new Error(`there are no manifests in ${describe(source)}`)
  const result = await applyManifests(manifests, { client })
  failWith(result.faults)
  return manifests.flatMap((manifest) => result.applied.get(manifest)?.object ?? [])
}

function failWith(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

/**
 * Whether the source is a text instead of a path. A path contains no line break and does not begin
 * like JSON.
 */
const isText = (source: string): boolean => /\n|^\s*[[{]/.test(source)

async function readSource(source: ApplySource): Promise<ParsedManifests> {
  if (typeof source !== 'string') return readObjects(Array.isArray(source) ? source : [source])
  if (isText(source)) return parseManifests(source, (line) => `line ${line}`)
  return await readManifests(await scan(source))
}

function readObjects(objects: readonly object[]): ParsedManifests {
  const manifests: Manifest[] = []
  const faults: string[] = []
  for (const [at, object] of objects.entries()) {
    const source = `objects[${at}]`
    // Objects of client libraries may contain values such as Date, so they are converted to JSON.
    const value: Json = parseJson(Buffer.from(JSON.stringify(object)))
    const known = manifests.length + faults.length
    if (isFields(value)) addManifests(value, source, { manifests, faults })
    if (manifests.length + faults.length === known)
      faults.push(`${source}: apiVersion and kind are missing`)
  }
  return { manifests, faults }
}

const describe = (source: ApplySource): string =>
  typeof source === 'string' && !isText(source) ? source : 'the source'
