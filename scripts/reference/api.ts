/**
 * Generates the API reference: a page for each group and version, and an index. The pages come from
 * the OpenAPI v3 documents of all versions. A type is described once, on the page of its own group,
 * and other pages link to it. Lists are left out, because they all have the same fields.
 */
import { defaultGates } from '../../src/api/gates.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  textOf,
  textsOf,
} from '../../src/api/object.ts'
import { systemClock } from '../../src/lib/time/clock.ts'
import { builtInResources } from '../../src/registry/built-in.ts'
import { kindName } from '../../src/registry/built-in-rules.ts'
import { rulesByKind } from '../../src/registry/kinds/all.ts'
import { Registry } from '../../src/registry/registry.ts'
import { apiVersionOf, type Resource } from '../../src/registry/resource.ts'
import { refPrefix } from '../../src/request/discovery/openapi/definitions.ts'
import { OpenApiLibrary } from '../../src/request/discovery/openapi/library.ts'
import { groupVersionOf, packageOf } from '../../src/request/discovery/openapi/names.ts'
import type { Page } from './markdown.ts'

const indexFile = 'index.md'
/** The page for the types that all groups share. It also covers the document of /version. */
const sharedPackage = 'meta/v1'
/**
 * Maximum length of an enumeration in a table. A longer enumeration, such as the names of signals,
 * would make the column too wide.
 */
const VALUES_MAX = 12

/** A type in the OpenAPI documents. */
type ApiType = {
  readonly id: string
  readonly name: string
  /** Package in the catalogue, such as `core/v1`. */
  readonly packageName: string
  readonly schema: Fields
}

/** Returns all pages. Links between pages are relative. */
export async function apiPages(): Promise<readonly Page[]> {
  const resources = builtInResources({
    isServed: () => true,
    gates: { release: 33, isOn: () => true },
  })
  const types = await readTypes(resources)
  const packages = [...new Set([...types.values()].map(({ packageName }) => packageName))]
  return [
    { file: indexFile, text: indexPage(resources) },
    ...packages.toSorted().map((packageName) => ({
      file: fileOf(packageName),
      text: packagePage(packageName, resources, types),
    })),
  ]
}

const fileOf = (packageName: string): string => `${packageName.replace('/', '-')}.md`

type TypesById = ReadonlyMap<string, ApiType>

async function readTypes(resources: readonly Resource[]): Promise<TypesById> {
  const library = new OpenApiLibrary({
    registry: new Registry([...resources]),
    hasIssuer: true,
    clock: systemClock,
    gates: defaultGates,
  })
  const types = new Map<string, ApiType>()
  for (const key of library.keys) {
    const parsed: Json = JSON.parse((await library.v3(key))?.json.toString() ?? '{}')
    const { schemas } = fieldsOf(fieldsOf(parsed)['components'])
    for (const [id, schema] of Object.entries(fieldsOf(schemas)))
      if (isFields(schema) && !isList(schema)) types.set(id, typeOf(id, schema))
  }
  return types
}

/**
 * Converts a definition of an OpenAPI document to a type. The definition's name (`id`) ends with
 * the package, the version and the name of the type.
 */
function typeOf(id: string, schema: Fields): ApiType {
  const [name = '', version = '', family = ''] = id.split('.').toReversed()
  const isShared = id.startsWith('io.k8s.apimachinery.')
  return { id, name, packageName: isShared ? sharedPackage : `${family}/${version}`, schema }
}

const isList = ({ properties, ...schema }: Fields): boolean =>
  schema['x-kubernetes-group-version-kind'] !== undefined &&
  fieldsOf(properties)['items'] !== undefined &&
  fieldsOf(properties)['metadata'] !== undefined

function indexPage(resources: readonly Resource[]): string {
  const versions = new Map(resources.map((one) => [apiVersionOf(one), packageOf(one)]))
  const rows = [...versions].map(([apiVersion, packageName]) => {
    const kinds = resources.filter((one) => apiVersionOf(one) === apiVersion)
    const links = kinds.map(({ kind }) => link(kind, packageName))
    const isServed = servedByDefault.has(apiVersion) ? 'yes' : 'no'
    return [`[${escaped(apiVersion)}](./${fileOf(packageName)})`, isServed, links.join(', ')]
  })
  return document([
    '# API reference',
    '',
    'Every built-in kind, with its fields. `kubectl explain` shows the same descriptions. Versions that',
    'are not served by default are turned on with `--runtime-config=GROUP/VERSION=true`.',
    '',
    `Types that all groups share are on a page of [their own](./${fileOf(sharedPackage)}).`,
    '',
    ...table(['Version', 'Served by default', 'Kinds'], rows),
  ])
}

const servedByDefault: ReadonlySet<string> = new Set(builtInResources().map(apiVersionOf))

function packagePage(
  packageName: string,
  resources: readonly Resource[],
  types: TypesById,
): string {
  const own = resources.filter((one) => packageOf(one) === packageName)
  const all = [...types.values()].filter((type) => type.packageName === packageName)
  const kinds = new Map(own.map((resource) => [resource.kind, resource]))
  const sorted = all.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const section = (type: ApiType): readonly string[] =>
    typeSection(type, kinds.get(type.name), types)
  const others = sorted.filter(({ name }) => !kinds.has(name))
  return document([
    ...headOf(packageName),
    ...sorted.filter(({ name }) => kinds.has(name)).flatMap(section),
    ...others.flatMap(section),
  ])
}

function headOf(packageName: string): readonly string[] {
  if (packageName === sharedPackage)
    return ['# Shared types', '', 'Types that the kinds of all groups use.']
  const apiVersion = apiVersionOf(groupVersionOf(packageName))
  if (servedByDefault.has(apiVersion)) return [`# ${escaped(apiVersion)}`]
  return [
    `# ${escaped(apiVersion)}`,
    '',
    `This version is not served by default. \`--runtime-config=${apiVersion}=true\` turns it on.`,
  ]
}

function typeSection(
  { name, schema }: ApiType,
  resource: Resource | undefined,
  types: TypesById,
): readonly string[] {
  const required = new Set(textsOf(schema['required']))
  const rows = Object.entries(fieldsOf(schema['properties'])).map(([field, property = null]) => [
    `\`${field}\`${required.has(field) ? ' (required)' : ''}`,
    shownType(property, types),
    escaped(textOf(fieldsOf(property)['description'])),
  ])
  return [
    '',
    `## ${escaped(name)}`,
    '',
    escaped(textOf(schema['description'])),
    ...(resource === undefined ? [] : ['', ...linesOf(resource)]),
    ...(rows.length === 0 ? [] : ['', ...table(['Field', 'Type', 'Description'], rows)]),
  ]
}

/** Returns the path, the verbs and other properties of a resource, as lines of a list. */
function linesOf(resource: Resource): readonly string[] {
  const { group, version, plural, isNamespaced, verbs, subresources, discovery } = resource
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const path = isNamespaced ? `${root}/namespaces/NAMESPACE/${plural}` : `${root}/${plural}`
  const gate = gateOf(resource)
  const lists: readonly (readonly [title: string, values: readonly string[]])[] = [
    ['Path', [path]],
    ['Verbs', verbs],
    ['Short names', discovery.shortNames],
    ['Subresources', subresources.map((one) => one.name)],
    ['Feature gate', gate === undefined ? [] : [gate]],
  ]
  return lists
    .filter(([, values]) => values.length > 0)
    .map(([title, values]) => `- ${title}: ${values.map((one) => `\`${one}\``).join(', ')}`)
}

function gateOf({ kind, group, version }: Resource): string | undefined {
  const name = kindName({ kind, group })
  const rules = rulesByKind.get(`${name} ${version}`) ?? rulesByKind.get(name)
  return rules?.strategy?.gate
}

/** Formats a type as `kubectl explain` does: `[]Container` or `map[string]Quantity`. */
function shownType(schema: Json, types: TypesById): string {
  const { $ref, allOf, type, format, items, additionalProperties, ...rest } = fieldsOf(schema)
  const [only = null] = Array.isArray(allOf) ? allOf : []
  const id = textOf($ref ?? fieldsOf(only)['$ref']).slice(refPrefix.length)
  if (id !== '') {
    const found = types.get(id)
    return found === undefined ? escaped(id) : link(found.name, found.packageName)
  }
  if (items !== undefined) return `\\[\\]${shownType(items, types)}`
  if (additionalProperties !== undefined)
    return `map\\[string\\]${shownType(additionalProperties, types)}`
  const values = textsOf(rest['enum'])
  const shown = format === undefined ? textOf(type) : `${textOf(type)} (${textOf(format)})`
  if (values.length === 0 || values.length > VALUES_MAX) return escaped(shown)
  return `${shown}: ${values.map((one) => `\`${one === '' ? '""' : one}\``).join(', ')}`
}

const link = (name: string, packageName: string): string =>
  `[${escaped(name)}](./${fileOf(packageName)}#${name.toLowerCase()})`

/** Joins the lines of a page. The first line is its title. */
const document = ([title = '', ...lines]: readonly string[]): string =>
  `${[title, '', mark, ...lines].join('\n')}\n`
const mark = '<!-- Generated by scripts/api-reference.ts. -->'

/** Like `table` in markdown.ts, but for cells whose pipes are already escaped. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return [rowOf(head), `|${'---|'.repeat(head.length)}`, ...rows.map(rowOf)]
}

const rowOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/**
 * Escapes text for Markdown in VitePress, which also interprets HTML, Vue templates and attributes
 * in braces. Dots between letters are escaped because names such as `example.com` would become
 * links.
 */
export const escaped = (text: string): string =>
  text
    .replaceAll(/[\\`*_[\]|~]/g, '\\$&')
    .replaceAll(/\.(?=\w)/g, '\\.')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('{', '&#123;')
    .replaceAll('}', '&#125;')
