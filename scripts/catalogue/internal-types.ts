/**
 * Reads types of kube-apiserver's internal version from the source of its modules. Generates
 * src/registry/catalogue/internal.ts, which src/registry/internal-json.ts reads.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderOf, sourceOf } from './facts.ts'
import type { Block } from './merge-releases.ts'

/** The types that errors show. The table contains them and all types of their fields. */
const roots = [
  'apiextensions.CustomResourceDefinitionVersion',
  'apiextensions.ValidationRule',
  'batch.PodFailurePolicy',
  'batch.SuccessPolicy',
  'core.PersistentVolumeSpec',
  'core.PodResourceClaim',
  'core.PodTemplateSpec',
  'core.ScopeSelector',
  'core.ServicePort',
  'core.Toleration',
  'flowcontrol.FlowSchemaSpec',
  'flowcontrol.PriorityLevelConfigurationSpec',
  'policy.PodDisruptionBudgetSpec',
  'resource.AllocationResult',
  'resource.DeviceAttribute',
  'resource.ResourceClaimSpec',
  'resource.ResourceClaimTemplateSpec',
  'storage.CSINodeDriver',
  'storage.VolumeAttachmentSpec',
]

/** Files with the types of each package, by module. */
const files: readonly (readonly [name: string, module: string, file: string])[] = [
  ['apiextensions', 'apiextensions-apiserver', 'pkg/apis/apiextensions/types.go'],
  ['apiextensions', 'apiextensions-apiserver', 'pkg/apis/apiextensions/types_jsonschema.go'],
  ['batch', 'kubernetes', 'pkg/apis/batch/types.go'],
  ['core', 'kubernetes', 'pkg/apis/core/types.go'],
  ['flowcontrol', 'kubernetes', 'pkg/apis/flowcontrol/types.go'],
  ['policy', 'kubernetes', 'pkg/apis/policy/types.go'],
  ['resource', 'kubernetes', 'pkg/apis/resource/types.go'],
  ['storage', 'kubernetes', 'pkg/apis/storage/types.go'],
]

/** Names of packages in the source that differ from the names in the table. */
const renamed: Readonly<Record<string, string>> = { api: 'core', metav1: 'meta' }

/** Types of values, by the types of Go that have no structure in JSON. */
const values: Readonly<Record<string, string>> = {
  'intstr.IntOrString': 'number',
  'resource.Quantity': 'quantity',
  'types.UID': 'string',
  'meta.Duration': 'string',
  'meta.Time': 'any',
  'meta.MicroTime': 'any',
  'runtime.Object': 'any',
  'runtime.RawExtension': 'runtime.RawExtension',
  'apiextensions.JSON': 'any',
  '[]byte': 'any',
  bool: 'bool',
  float64: 'number',
  int32: 'number',
  int64: 'number',
  int: 'number',
  string: 'string',
}

/** The text of a type in Go: the fields of a struct, or another type. */
type Source = { readonly fields?: readonly string[]; readonly type?: string }

/** Reads the types of a version such as `1.34.4`. */
export function readInternalTypes(version?: string): readonly Block[] {
  const sources = new Map<string, Source>()
  const folders = new Map([
    ['apiextensions-apiserver', folderOf('apiextensions-apiserver', version)],
    ['kubernetes', sourceOf(version)],
  ])
  for (const [name, module, file] of files)
    readFile(name, readFileSync(join(folders.get(module) ?? '', file), 'utf8'), sources)
  const blocks = new Map<string, Block>()
  const waiting = [...roots]
  for (let head = waiting.pop(); head !== undefined; head = waiting.pop()) {
    if (blocks.has(head)) continue
    const lines = linesOf(head, sources)
    blocks.set(head, { head, lines: lines.map((line) => `  ${line}`) })
    for (const line of lines) {
      const used = /[a-z]+\.[A-Z]\w*$/.exec(line)?.[0]
      if (used !== undefined && !/^(?:meta|runtime)\./.test(used)) waiting.push(used)
    }
  }
  return [...blocks.values()].toSorted((one, other) => (one.head < other.head ? -1 : 1))
}

function readFile(name: string, text: string, sources: Map<string, Source>): void {
  for (const [, type = '', body = ''] of text.matchAll(
    /^type (\w+) struct ?\{(?:\n([^]*?)^)?\}/gm,
  )) {
    const lines = body.split('\n').map((line) => line.replace(/\/\/.*/, '').trim())
    sources.set(`${name}.${type}`, { fields: lines.filter((line) => line !== '') })
  }
  for (const [, type = '', other = ''] of text.matchAll(
    /^type (\w+) =?([^\s{].*|interface\{\})$/gm,
  ))
    if (!other.startsWith('struct')) sources.set(`${name}.${type}`, { type: other.trim() })
}

function linesOf(head: string, sources: ReadonlyMap<string, Source>): readonly string[] {
  const { fields } = sources.get(head) ?? {}
  if (fields === undefined) throw new Error(`${head} is not a struct`)
  const [name = ''] = head.split('.')
  return fields.map((field) => {
    const [first = '', second] = field.split(/\s+/)
    return second === undefined
      ? `...${typeText(first, name, sources)}`
      : `${first} ${typeText(second, name, sources)}`
  })
}

/** Returns a type as the table shows it, such as `[]core.Container`, `*number` or `{}string`. */
function typeText(type: string, name: string, sources: ReadonlyMap<string, Source>): string {
  const known = values[type] ?? values[inPackage(type, name)]
  if (known !== undefined) return known
  if (type.startsWith('*')) return `*${typeText(type.slice(1), name, sources)}`
  if (type.startsWith('[]')) return `[]${typeText(type.slice(2), name, sources)}`
  const [, ofMap] = /^map\[[\w.]+\](.*)$/.exec(type) ?? []
  if (ofMap !== undefined) return `{}${typeText(ofMap, name, sources)}`
  const full = inPackage(type, name)
  if (full.startsWith('meta.')) return full
  const source = sources.get(full)
  if (source === undefined) throw new Error(`unknown type ${full}`)
  const [other = ''] = full.split('.')
  return source.type === undefined ? full : typeText(source.type, other, sources)
}

function inPackage(type: string, name: string): string {
  const [prefix = '', rest] = type.split('.')
  return rest === undefined ? `${name}.${type}` : `${renamed[prefix] ?? prefix}.${rest}`
}

export const internalTypesText = (blocks: readonly Block[]): string =>
  `/** Generated by scripts/internal-types.ts. Syntax: registry/internal-json.ts. */
export const internalTypes = \`
${blocks.map(({ head, lines }) => [head, ...lines].join('\n')).join('\n')}
\`
`
