/**
 * Fetches the packages through Go's module proxy into Go's own cache, and reads the
 * CustomResourceDefinitions in them.
 */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CORE_SCHEMA, load } from 'js-yaml'
import { isRecord } from '../../recorded/compat/json.ts'
import type { Fields } from '../every-kind.ts'
import type { FieldPackage } from './packages.ts'

const run = promisify(execFile)

export type FieldVersion = {
  readonly name: string
  readonly isStorage: boolean
  readonly schema: Fields
  readonly hasStatus: boolean
  readonly hasScale: boolean
}

export type FieldDefinition = {
  readonly module: string
  /** The published text of the definition, which is sent to the server unchanged. */
  readonly text: string
  /** Name of the definition, such as `widgets.example.com`. */
  readonly name: string
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly isNamespaced: boolean
  readonly hasWebhook: boolean
  /** The versions of the definition that are served. */
  readonly versions: readonly FieldVersion[]
}

/** Returns the folder of a module. Downloads the module if necessary. */
export async function fetchModule({
  module,
  version,
}: Pick<FieldPackage, 'module' | 'version'>): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', `${module}@${version}`])
  const reported: unknown = JSON.parse(stdout)
  const dir = isRecord(reported) ? reported['Dir'] : undefined
  if (typeof dir !== 'string')
    throw new Error(`${module}@${version} cannot be downloaded: ${stdout}`)
  return dir
}

export async function readPackage(source: FieldPackage): Promise<readonly FieldDefinition[]> {
  const dir = await fetchModule(source)
  const found = new Map<string, FieldDefinition>()
  for (const file of source.paths.flatMap((path) => filesOf(join(dir, path)))) {
    for (const text of readFileSync(file, 'utf8').split(/^---.*$/m)) {
      const definition = readDefinition(text, source.module)
      if (definition !== undefined && !found.has(definition.name))
        found.set(definition.name, definition)
    }
  }
  if (found.size === 0)
    throw new Error(`${source.module}@${source.version} has no definitions in the configured paths`)
  return [...found.values()]
}

function filesOf(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path).filter((name) => /\.ya?ml$/.test(name))
  return names.toSorted().map((name) => join(path, name))
}

/** Returns the definition in a YAML document, or undefined if there is none. */
function readDefinition(text: string, module: string): FieldDefinition | undefined {
  if (!/^kind: CustomResourceDefinition$/m.test(text)) return undefined
  const document = fields(load(text, { schema: CORE_SCHEMA }))
  const spec = fields(document['spec'])
  const names = fields(spec['names'])
  const versions = Array.isArray(spec['versions']) ? spec['versions'].map(fields) : []
  return {
    module,
    text,
    name: String(fields(document['metadata'])['name']),
    group: String(spec['group']),
    kind: String(names['kind']),
    plural: String(names['plural']),
    isNamespaced: spec['scope'] === 'Namespaced',
    hasWebhook: fields(spec['conversion'])['strategy'] === 'Webhook',
    versions: versions.filter(({ served }) => served === true).map(readVersion),
  }
}

const readVersion = (version: Fields): FieldVersion => ({
  name: String(version['name']),
  isStorage: version['storage'] === true,
  schema: fields(fields(version['schema'])['openAPIV3Schema']),
  hasStatus: isRecord(fields(version['subresources'])['status']),
  hasScale: isRecord(fields(version['subresources'])['scale']),
})

export const fields = (value: unknown): Fields => (isRecord(value) ? value : {})
