/**
 * Writes src/registry/catalogue/ from the facts about built-in types (../shared/catalogue, and ../shared/openapi for the values
 * of enumerations). Run by hand when those change, never at build; what it writes is reviewed and kept. The form is explained in
 * src/schema/read-types.ts.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

type FieldFacts = {
  readonly name: string | null
  readonly go: string
  readonly inline?: true
  readonly omitempty?: true
  readonly required?: true
  readonly proto?: number
  readonly format?: string
  readonly default?: unknown
  readonly 'list-type'?: string
  readonly 'list-map-keys'?: readonly string[]
  readonly 'map-type'?: string
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
}
type TypeFacts = {
  readonly fields: readonly FieldFacts[]
  readonly 'map-type'?: string
  readonly unions?: unknown
}
type PropertyFacts = {
  readonly enum?: readonly string[]
  readonly items?: PropertyFacts
  readonly additionalProperties?: PropertyFacts
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
}
type DefinitionFacts = {
  readonly properties?: Readonly<Record<string, PropertyFacts>>
  readonly required?: readonly string[]
}
type OpenApiFacts = { readonly definitions: Readonly<Record<string, DefinitionFacts>> }
type PackageFacts = {
  readonly aliases: Readonly<Record<string, string>>
  readonly types: Readonly<Record<string, TypeFacts>>
}

const root = join(import.meta.dirname, '..')
const facts = join(root, '..', 'shared', 'catalogue')
const out = join(root, 'src', 'registry', 'catalogue')

/** Our file, and the packages of the facts that go into it, by our short name of the package. */
const files: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['meta', { 'meta/v1': 'io.k8s.apimachinery.pkg.apis.meta.v1' }],
  ['core', versionsOf('core', ['v1'])],
  ['admissionregistration', versionsOf('admissionregistration', ['v1', 'v1alpha1', 'v1beta1'])],
  ['apiextensions', { 'apiextensions/v1': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1' }],
  ['apiserverinternal', versionsOf('apiserverinternal', ['v1alpha1'])],
  ['apiregistration', { 'apiregistration/v1': 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1' }],
  ['apps', versionsOf('apps', ['v1'])],
  ['authentication', versionsOf('authentication', ['v1'])],
  ['authorization', versionsOf('authorization', ['v1'])],
  ['autoscaling', versionsOf('autoscaling', ['v1', 'v2'])],
  ['batch', versionsOf('batch', ['v1'])],
  ['certificates', versionsOf('certificates', ['v1', 'v1alpha1', 'v1beta1'])],
  ['coordination', versionsOf('coordination', ['v1', 'v1alpha2', 'v1beta1'])],
  ['discovery', versionsOf('discovery', ['v1'])],
  ['events', versionsOf('events', ['v1'])],
  ['flowcontrol', versionsOf('flowcontrol', ['v1'])],
  ['networking', versionsOf('networking', ['v1', 'v1beta1'])],
  ['node', versionsOf('node', ['v1'])],
  ['policy', versionsOf('policy', ['v1'])],
  ['rbac', versionsOf('rbac', ['v1'])],
  ['resource', versionsOf('resource', ['v1alpha3', 'v1beta1', 'v1beta2'])],
  ['scheduling', versionsOf('scheduling', ['v1'])],
  ['storage', versionsOf('storage', ['v1', 'v1alpha1', 'v1beta1'])],
  ['storagemigration', versionsOf('storagemigration', ['v1alpha1'])],
]

function versionsOf(group: string, versions: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(versions.map((version) => [`${group}/${version}`, `io.k8s.api.${group}.${version}`]))
}

/** What the facts leave out: the names in the protobuf definitions are not those in JSON. */
const missingNumbers: Readonly<Record<string, number>> = {
  'Probe...ProbeHandler': 1,
  'JSONSchemaProps.$schema': 2,
  'JSONSchemaProps.$ref': 3,
  'JSONSchemaProps.x-kubernetes-preserve-unknown-fields': 38,
  'JSONSchemaProps.x-kubernetes-embedded-resource': 39,
  'JSONSchemaProps.x-kubernetes-int-or-string': 40,
  'JSONSchemaProps.x-kubernetes-list-map-keys': 41,
  'JSONSchemaProps.x-kubernetes-list-type': 42,
  'JSONSchemaProps.x-kubernetes-map-type': 43,
  'JSONSchemaProps.x-kubernetes-validations': 44,
}

/** Lists that protobuf has in a message of their own, so that an empty one is not the same as none. */
const wrapped = new Set(['ExtraValue', 'Verbs'])

/** Structs without fields, which the facts leave out. */
const emptyTypes: Readonly<Record<string, readonly string[]>> = {
  'apiextensions/v1': ['CustomResourceSubresourceStatus'],
  'apiserverinternal/v1alpha1': ['StorageVersionSpec'],
}

/** Types that JSON writes in a way of their own: the reader knows them by name. */
const ownForms = new Set([
  'Time',
  'MicroTime',
  'Duration',
  'FieldsV1',
  'JSON',
  'JSONSchemaPropsOrArray',
  'JSONSchemaPropsOrBool',
  'JSONSchemaPropsOrStringArray',
])

/** Lists and what has no protobuf; the documents of discovery are kept, whose protobuf is written from these. */
const leftOut =
  /^(RootPaths|Table.*|WatchEvent|(?!API(Group|Resource)).*List|List|GroupResource|GroupVersion|GroupVersion(Kind|Resource)|GroupKind|Timestamp)$/

/** A type of that name which is the package's own. */
const isKept = (packageName: string, typeName: string): boolean =>
  packageName.startsWith('storagemigration/') && typeName === 'GroupVersionResource'

/** A version that only the database still sees, and that has no published facts: written by hand. */
const handWritten: Readonly<Record<string, string>> = {
  apiextensions: `package apiextensions/v1beta1

CustomResourceDefinition
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  spec! CustomResourceDefinitionSpec 2
  status CustomResourceDefinitionStatus 3

CustomResourceDefinitionSpec
  group! string 1
  version string 2
  names! CustomResourceDefinitionNames 3
  scope! ResourceScope 4
  validation *CustomResourceValidation 5
  subresources *CustomResourceSubresources 6
  versions []CustomResourceDefinitionVersion 7
  additionalPrinterColumns []CustomResourceColumnDefinition 8
  selectableFields []SelectableField 11
  conversion *CustomResourceConversion 9
  preserveUnknownFields *bool 10

CustomResourceConversion
  strategy! string 1
  webhookClientConfig *apiextensions.WebhookClientConfig 2
  conversionReviewVersions []string 3

CustomResourceDefinitionVersion
  name! string 1
  served! bool 2
  storage! bool 3
  deprecated bool 7
  deprecationWarning *string 8
  schema *CustomResourceValidation 4
  subresources *CustomResourceSubresources 5
  additionalPrinterColumns []CustomResourceColumnDefinition 6
  selectableFields []SelectableField 9

CustomResourceColumnDefinition
  name! string 1
  type! string 2
  format string 3
  description string 4
  priority int32 5
  JSONPath! string 6

CustomResourceDefinitionNames = apiextensions.CustomResourceDefinitionNames
CustomResourceDefinitionStatus = apiextensions.CustomResourceDefinitionStatus
CustomResourceSubresources = apiextensions.CustomResourceSubresources
CustomResourceValidation = apiextensions.CustomResourceValidation
ResourceScope = string
SelectableField = apiextensions.SelectableField
`,
}

/** The published definitions of types, by name: `io.k8s.api.core.v1.ContainerPort`. */
const { definitions }: OpenApiFacts = JSON.parse(readFileSync(join(root, '..', 'shared', 'openapi', 'v2.json'), 'utf8'))

for (const [file, packages] of files) {
  const parts = Object.entries(packages).map(([name, source]) => writePackage(name, source))
  const extra = handWritten[file]
  if (extra !== undefined) parts.push(extra)
  // Two versions of a group call the types of their first one `v1`, as most packages call those of core.
  const text = parts.join('\n').replaceAll('core.CoordinatedLease', 'coordination.CoordinatedLease')
  if (/[`\\$](?!schema|ref)/.test(text)) throw new Error(`${file} has a character that a template would read`)
  writeFileSync(join(out, `${file}.ts`), `export const ${file}Types = \`\n${text}\`\n`)
}

function writePackage(name: string, source: string): string {
  const { aliases, types }: PackageFacts = JSON.parse(readFileSync(join(facts, `${source}.json`), 'utf8'))
  const lines = [`package ${name}`, '']
  for (const [alias, go] of Object.entries(aliases)) {
    const values = enumOf(alias, source, types)
    const form = `${wrapped.has(alias) ? 'wrapped ' : ''}${goType(go)}`
    lines.push(`${alias} = ${form}${values === undefined ? '' : `: ${values.join('|')}`}`)
  }
  if (Object.keys(aliases).length > 0) lines.push('')
  for (const [typeName, type] of Object.entries(types)) {
    if ((leftOut.test(typeName) && !isKept(name, typeName)) || ownForms.has(typeName)) continue
    lines.push(...writeType(typeName, published(typeName, type, { source, types })), '')
  }
  for (const typeName of emptyTypes[name] ?? []) lines.push(typeName, '')
  return lines.join('\n')
}

/** Values belong to a named type: any of its own package's fields that is of that type, or lists it, shows them. */
function enumOf(alias: string, source: string, types: PackageFacts['types']): readonly string[] | undefined {
  for (const [typeName, { fields }] of Object.entries(types)) {
    for (const { name, go } of fields) {
      const isOf = go.replace(/^(\*|\[\]|map\[\w+\])/, '') === alias
      const property = isOf && name !== null ? definitions[`${source}.${typeName}`]?.properties?.[name] : undefined
      const values = property?.enum ?? property?.items?.enum ?? property?.additionalProperties?.enum
      if (values !== undefined) return values
    }
  }
  return undefined
}

/**
 * A type that is only ever a part of another has no definition, so the facts lack what is published of its fields. The other
 * type's definition has it.
 */
function published(name: string, type: TypeFacts, of: { source: string; types: PackageFacts['types'] }): TypeFacts {
  if (definitions[`${of.source}.${name}`] !== undefined) return type
  const isWhole = ([, { fields }]: [string, TypeFacts]): boolean =>
    fields.some(({ inline, go }) => inline === true && go === name)
  const whole = Object.entries(of.types).find(isWhole)?.[0]
  const { properties = {}, required = [] } = definitions[`${of.source}.${whole}`] ?? {}
  const fields = type.fields.map((field) => {
    const property = properties[field.name ?? '']
    const listType = property?.['x-kubernetes-list-type']
    const keys = property?.['x-kubernetes-list-map-keys']
    return {
      ...(listType === undefined ? {} : { 'list-type': listType }),
      ...(keys === undefined ? {} : { 'list-map-keys': keys }),
      ...(required.includes(field.name ?? '') ? { required: true as const } : {}),
      ...field,
    }
  })
  return { ...type, fields }
}

function writeType(name: string, type: TypeFacts): string[] {
  const mapType = type['map-type'] === undefined ? '' : ` ${type['map-type']}`
  const unions = type.unions === undefined ? '' : ` unions=${JSON.stringify(type.unions)}`
  return [`${name}${mapType}${unions}`, ...type.fields.map((field) => `  ${writeField(name, field)}`)]
}

function writeField(typeName: string, field: FieldFacts): string {
  if (field.inline === true) {
    const number = field.proto ?? missingNumbers[`${typeName}...${field.go}`]
    return `...${goType(field.go)}${number === undefined ? '' : ` ${number}`}`
  }
  const type = goType(field.go)
  checkFormat(field, type, typeName)
  const isAlways = field.omitempty !== true
  const isRequired = field.required === true
  const mark = isAlways ? (isRequired ? '!' : '+') : isRequired ? '*' : ''
  const number = field.proto ?? missingNumbers[`${typeName}.${field.name}`]
  const words = [`${field.name}${mark}`, type, number === undefined ? '-' : `${number}`]
  const listType = field['list-type'] ?? field['map-type']
  if (listType === 'map') words.push(`map=${(field['list-map-keys'] ?? []).join(',')}`)
  else if (listType !== undefined) words.push(listType)
  if (field.patchStrategy !== undefined) words.push(`patch=${field.patchStrategy}`)
  if (field.patchMergeKey !== undefined) words.push(`key=${field.patchMergeKey}`)
  if (field.default !== undefined) words.push(`default=${JSON.stringify(field.default)}`)
  return words.join(' ')
}

/** A format that the type does not tell by itself would be lost. */
function checkFormat({ format, go }: FieldFacts, type: string, typeName: string): void {
  if (format === undefined) return
  const told = { int32: 'int32', int64: 'int64', double: 'float64', byte: '[]byte' }[format]
  if (told === undefined || (!type.includes(told) && !go.includes('ID')))
    throw new Error(`${typeName}: ${go} ${format}`)
}

/** Go's type with our names of packages; types of other packages that are scalars in JSON have short names. */
function goType(go: string): string {
  return go
    .replaceAll('metav1.', 'meta.')
    .replaceAll(/\b(corev1|apiv1|v1)\./g, 'core.')
    .replaceAll('resource.Quantity', 'Quantity')
    .replaceAll('intstr.IntOrString', 'IntOrString')
    .replaceAll('runtime.RawExtension', 'RawExtension')
    .replaceAll('types.UID', 'UID')
}

type ResourceFacts = {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly verbs: readonly string[]
  readonly subresources: readonly { readonly name: string; readonly kind: string; readonly verbs: readonly string[] }[]
}

/** What is served when nothing else is asked for, in the order in which discovery lists it; and the package of its types. */
const served: readonly (readonly [string, string, string])[] = [
  ['', 'v1', 'core'],
  ['apiregistration.k8s.io', 'v1', 'apiregistration'],
  ['apps', 'v1', 'apps'],
  ['events.k8s.io', 'v1', 'events'],
  ['authentication.k8s.io', 'v1', 'authentication'],
  ['authorization.k8s.io', 'v1', 'authorization'],
  ['autoscaling', 'v2', 'autoscaling'],
  ['autoscaling', 'v1', 'autoscaling'],
  ['batch', 'v1', 'batch'],
  ['certificates.k8s.io', 'v1', 'certificates'],
  ['networking.k8s.io', 'v1', 'networking'],
  ['policy', 'v1', 'policy'],
  ['rbac.authorization.k8s.io', 'v1', 'rbac'],
  ['storage.k8s.io', 'v1', 'storage'],
  ['admissionregistration.k8s.io', 'v1', 'admissionregistration'],
  ['apiextensions.k8s.io', 'v1', 'apiextensions'],
  ['scheduling.k8s.io', 'v1', 'scheduling'],
  ['coordination.k8s.io', 'v1', 'coordination'],
  ['node.k8s.io', 'v1', 'node'],
  ['discovery.k8s.io', 'v1', 'discovery'],
  ['flowcontrol.apiserver.k8s.io', 'v1', 'flowcontrol'],
]

/** Resources whose objects are stored in another version than they are served in. */
const storedElsewhere: Readonly<Record<string, string>> = {
  'events.k8s.io/v1/events': 'v1',
  'autoscaling/v1/horizontalpodautoscalers': 'autoscaling/v2',
  'networking.k8s.io/v1/ipaddresses': 'networking.k8s.io/v1beta1',
  'networking.k8s.io/v1/servicecidrs': 'networking.k8s.io/v1beta1',
  'apiextensions.k8s.io/v1/customresourcedefinitions': 'apiextensions.k8s.io/v1beta1',
}

const verbLetters: Readonly<Record<string, string>> = {
  create: 'C',
  delete: 'D',
  deletecollection: 'X',
  get: 'G',
  list: 'L',
  patch: 'P',
  update: 'U',
  watch: 'W',
}

writeFileSync(join(out, 'resources.ts'), `export const resourceTable = \`\n${writeResources()}\`\n`)

function writeResources(): string {
  const lines = readFileSync(join(facts, 'resources.jsonl'), 'utf8').trim().split('\n')
  const resources = lines.map((line): ResourceFacts => JSON.parse(line))
  const parts = served.map(([group, version, types]) => {
    const own = resources.filter((one) => one.group === group && one.version === version)
    const apiVersion = group === '' ? version : `${group}/${version}`
    return [`${apiVersion} ${types}/${version}`, ...own.map((one) => `  ${writeResource(one, apiVersion)}`), ''].join(
      '\n',
    )
  })
  return parts.join('\n')
}

function writeResource(resource: ResourceFacts, apiVersion: string): string {
  const { resource: plural, kind, scope, shortNames, categories, subresources } = resource
  if (resource.singular !== kind.toLowerCase()) throw new Error(`${plural}: the singular is not the kind`)
  const words = [plural, kind, scope.toLowerCase(), letters(resource.verbs)]
  const stored = storedElsewhere[`${apiVersion}/${plural}`]
  if (stored !== undefined) words.push(`stored=${stored}`)
  if (shortNames.length > 0) words.push(`short=${shortNames.join(',')}`)
  if (categories.length > 0) words.push(`in=${categories.join(',')}`)
  for (const { name, kind: subKind, verbs } of subresources) {
    words.push(`/${name}:${letters(verbs)}${subKind === kind ? '' : `=${subKind}`}`)
  }
  return words.join(' ')
}

function letters(verbs: readonly string[]): string {
  const text = verbs.map((verb) => verbLetters[verb] ?? '?').join('')
  return text === 'CDXGLPUW' ? 'std' : text
}
