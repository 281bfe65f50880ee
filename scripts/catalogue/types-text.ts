/**
 * Generates the types of packages from the facts about Kubernetes, in the syntax of
 * src/objects/schema/read-types.ts.
 */
import type { AliasFacts, Facts, FieldFacts, TypeFacts } from './facts.ts'
import type { ByHand } from './kept.ts'
import type { Block } from './merge-releases.ts'

/**
 * Lists that are separate messages in protobuf, so that an empty list differs from an absent one.
 */
const wrapped = new Set(['ExtraValue', 'Verbs'])

/** Types with their own JSON form. The code that reads the schema recognizes them by name. */
const ownForms = new Set([
  'meta/v1 Time',
  'meta/v1 MicroTime',
  'meta/v1 Duration',
  'meta/v1 FieldsV1',
  'apiextensions/v1 JSON',
  'apiextensions/v1 JSONSchemaPropsOrArray',
  'apiextensions/v1 JSONSchemaPropsOrBool',
  'apiextensions/v1 JSONSchemaPropsOrStringArray',
])

/**
 * Names of kinds that are not generated: lists, and kinds without a protobuf encoding. APIGroupList
 * and APIResourceList are generated, because discovery is also served in protobuf.
 */
const leftOut = /^(RootPaths|Table.*|WatchEvent|(?!API(Group|Resource)).*List)$/

export type KeptFields = { readonly byHand: ByHand; readonly gates: ReadonlyMap<string, string> }

/** The types of a package, as blocks of lines. */
export type PackageBlocks = {
  readonly aliases: readonly Block[]
  readonly structs: readonly Block[]
}

/**
 * Returns the types of the given packages. A type is included only if a kind of these packages or a
 * handwritten type uses it.
 */
export function packageBlocks(
  { packages }: Facts,
  names: readonly string[],
  { byHand, gates }: KeptFields,
): Map<string, PackageBlocks> {
  const all = new Map<string, AliasFacts | TypeFacts>()
  for (const [name, { aliases, types }] of Object.entries(packages)) {
    for (const one of [...(aliases ?? []), ...types]) all.set(`${name} ${one.name}`, one)
  }
  const used = new Set<string>()
  const use = (id: string): void => {
    const one = all.get(id)
    if (one === undefined || used.has(id) || ownForms.has(id) || byHand.types.has(id)) return
    used.add(id)
    const from = id.split(' ')[0] ?? ''
    for (const go of 'fields' in one ? one.fields.map((field) => field.go) : [one.go]) {
      for (const other of namesIn(go, from)) use(other)
    }
  }
  for (const name of names) {
    for (const type of packages[name]?.types ?? []) {
      const id = `${name} ${type.name}`
      if (type.isKind === true && !leftOut.test(type.name)) use(id)
    }
  }
  for (const id of byHand.named) use(id)
  const unlisted = enumsUnlisted([...all])
  return new Map(names.map((name) => [name, blocksOf(name)]))

  function blocksOf(name: string): PackageBlocks {
    const { aliases, types } = packages[name] ?? { aliases: [], types: [] }
    const isUsed = (one: AliasFacts | TypeFacts): boolean => used.has(`${name} ${one.name}`)
    return {
      aliases: (aliases ?? []).filter(isUsed).map((alias) => ({
        head: aliasText(alias, unlisted.has(`${name} ${alias.name}`)),
        lines: [],
      })),
      structs: types.filter(isUsed).map((type) => structBlock(name, type, gates)),
    }
  }
}

/**
 * Returns the names of the API types in a Go type expression, such as `core/v1 Pod`. `from` is the
 * package in which the expression is used.
 */
function namesIn(go: string, from: string): readonly string[] {
  return typeText(go)
    .split(/[*[\]]|map/)
    .filter((name) => name !== '')
    .map((name) => {
      const [owner = '', type] = name.split('.')
      if (type === undefined) return `${from} ${name}`
      return `${owner.includes('/') ? owner : `${owner}/v1`} ${type}`
    })
}

/**
 * Returns the enumerations whose values kube-apiserver does not publish. Kubernetes' OpenAPI
 * generator applies the markers of an alias to the aliased type. If an alias lacks the enum marker,
 * the aliased type therefore loses this marker.
 */
function enumsUnlisted(
  all: readonly (readonly [string, AliasFacts | TypeFacts])[],
): ReadonlySet<string> {
  const unmarked = all.flatMap(([id, one]) =>
    'isSame' in one && one.isEnum !== true ? namesIn(one.go, id.split(' ')[0] ?? '') : [],
  )
  return new Set(unmarked)
}

function aliasText({ name, go, values }: AliasFacts, isUnlisted: boolean): string {
  const form = `${wrapped.has(name) ? 'wrapped ' : ''}${typeText(go)}`
  return `${name} = ${form}${values === undefined || isUnlisted ? '' : `: ${values.join('|')}`}`
}

function structBlock(packageName: string, type: TypeFacts, gates: KeptFields['gates']): Block {
  const mapType = type.mapType === undefined ? '' : ` ${type.mapType}`
  const lines = type.fields.map((field) => {
    const gate = gates.get(`${packageName} ${type.name}.${field.name}`)
    return `${fieldText(field)}${gate === undefined ? '' : ` gate=${gate}`}`
  })
  return { head: `${type.name}${mapType}${unionText(type)}`, lines }
}

/** Returns the union of a type in the form that Kubernetes publishes. Fields are sorted by name. */
function unionText({ union }: TypeFacts): string {
  if (union === undefined) return ''
  const fields = Object.fromEntries(
    Object.entries(union.fields).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
  const published = [{ discriminator: union.discriminator, 'fields-to-discriminateBy': fields }]
  return ` unions=${JSON.stringify(published)}`
}

function fieldText(field: FieldFacts): string {
  const type = typeText(field.go)
  const number = field.proto === undefined ? '' : ` ${field.proto}`
  if (field.name === undefined) return `...${type}${number}`
  const isAlways = field.omitempty !== true && field.omitzero !== true
  const mark = isAlways ? (field.required === true ? '!' : '+') : field.required === true ? '*' : ''
  const words = [`${field.name}${mark}`, type, `${field.proto ?? '-'}`]
  const listType = field.listType ?? field.mapType
  if (listType === 'map') words.push(`map=${(field.listMapKeys ?? []).join(',')}`)
  else if (listType !== undefined) words.push(listType)
  if (field.omitzero === true && !type.startsWith('*')) words.push('omitzero')
  if (field.patchStrategy !== undefined) words.push(`patch=${field.patchStrategy}`)
  if (field.patchMergeKey !== undefined) words.push(`key=${field.patchMergeKey}`)
  // A default must not contain spaces, because spaces separate the words of a line.
  if (field.default !== undefined)
    words.push(`default=${JSON.stringify(JSON.parse(field.default))}`)
  return words.join(' ')
}

/**
 * Returns a Go type, in which Keelson's package names replace those of Kubernetes. Types of some
 * packages, such as Quantity, are written without a package name.
 */
export function typeText(go: string): string {
  return go
    .replaceAll('k8s.io/apimachinery/pkg/apis/meta/v1.', 'meta.')
    .replaceAll(/k8s\.io\/api\/(\w+)\/v1\./g, '$1.')
    .replaceAll(/k8s\.io\/api\/(\w+\/\w+)\./g, '$1.')
    .replaceAll(/k8s\.io\/apimachinery\/pkg\/(?:api\/resource|util\/intstr|runtime|types)\./g, '')
}
