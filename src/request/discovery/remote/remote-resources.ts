/**
 * Reads the resources of a remote server, and converts them to JSON for aggregated discovery. The
 * server sends either an aggregated discovery document or a list for each version. A document is
 * read in slices, one resource at a time. Only known fields are included.
 */
import type { JsonScanner } from '../../../api/json-scanner.ts'
import { type Fields, fieldsOf, itemsOf, type Json, textOf, textsOf } from '../../../api/object.ts'
import { printOrdered } from '../../../objects/codec/json.ts'
import { inSlices, type Steps } from '../../../lib/scheduling/slices.ts'
import { eachField, eachItem, readFields, readPart } from '../../../api/bounded-json.ts'

/** Maximum number of groups of a server, and of versions of a group. */
const GROUPS_MAX = 10_000
const VERSIONS_MAX = 100
/**
 * Maximum number of resources of a version, and maximum total length of their JSON. The JSON is
 * part of the document that every client receives.
 */
const RESOURCES_MAX = 4_096
const TEXT_CHARS_MAX = 1 << 20

/** The resources of each version, by `group/version`. Each value is a JSON list. */
export type RemoteResources = ReadonlyMap<string, string>

/**
 * Reads the requested versions of an APIGroupDiscoveryList. Fails if the document has another kind.
 */
export const readAggregated = (
  json: Buffer,
  isWanted: (group: string, version: string) => boolean,
): Promise<RemoteResources> => inSlices(aggregatedSteps(json.toString(), isWanted))

function* aggregatedSteps(
  text: string,
  isWanted: (group: string, version: string) => boolean,
): Steps<RemoteResources> {
  const found = new Map<string, string>()
  const head = new Map<string, Json>()
  const into = (name: string) => (scanner: JsonScanner) => readInto(head, name, scanner)
  yield* readFields(text, {
    kind: into('kind'),
    apiVersion: into('apiVersion'),
    items: (scanner) => eachItem(scanner, GROUPS_MAX, (item) => groupSteps(item, found, isWanted)),
  })
  if (head.get('kind') !== 'APIGroupDiscoveryList' || !isKnownVersion(head.get('apiVersion')))
    throw new Error('response is not an APIGroupDiscoveryList')
  return found
}

function* groupSteps(
  scanner: JsonScanner,
  found: Map<string, string>,
  isWanted: (group: string, version: string) => boolean,
): Steps<void> {
  const head = new Map<string, Json>()
  const versions = new Map<string, string>()
  yield* eachField(scanner, {
    metadata: (value) => readInto(head, 'metadata', value),
    versions: (value) =>
      eachItem(value, VERSIONS_MAX, function* (item) {
        const version = new Map<string, Json>()
        const resources: string[] = []
        yield* eachField(item, {
          version: (name) => readInto(version, 'version', name),
          resources: (list) => resourceSteps(list, resources),
        })
        versions.set(textOf(version.get('version')), `[${resources.join(',')}]`)
      }),
  })
  const group = textOf(fieldsOf(head.get('metadata'))['name'])
  for (const [version, text] of versions)
    if (isWanted(group, version)) found.set(`${group}/${version}`, text)
}

function* resourceSteps(scanner: JsonScanner, resources: string[]): Steps<void> {
  let length = 0
  yield* eachItem(scanner, RESOURCES_MAX, function* (item) {
    const text = printOrdered(resourceFields(fieldsOf(yield* readPart(item))))
    length += text.length
    if (length > TEXT_CHARS_MAX)
      throw new Error(`the resources of a version have more than ${TEXT_CHARS_MAX} characters`)
    resources.push(text)
  })
}

function* readInto(head: Map<string, Json>, name: string, scanner: JsonScanner): Steps<void> {
  head.set(name, yield* readPart(scanner))
}

const isKnownVersion = (apiVersion: Json | undefined): boolean =>
  apiVersion === 'apidiscovery.k8s.io/v2' || apiVersion === 'apidiscovery.k8s.io/v2beta1'

/**
 * Reads an APIResourceList. A server without aggregated discovery sends one list for each version.
 * Fails if the document has another kind.
 */
export const readPlain = (json: Buffer): Promise<string> => inSlices(plainSteps(json.toString()))

function* plainSteps(text: string): Steps<string> {
  const head = new Map<string, Json>()
  const all: { readonly one: Fields; readonly names: readonly string[] }[] = []
  yield* readFields(text, {
    kind: (scanner) => readInto(head, 'kind', scanner),
    resources: (scanner) =>
      eachItem(scanner, RESOURCES_MAX, function* (item) {
        const one = fieldsOf(yield* readPart(item))
        all.push({ one, names: textOf(one['name']).split(/\/(.*)/s) })
      }),
  })
  if (head.get('kind') !== 'APIResourceList') throw new Error('response is not an APIResourceList')
  const parents = new Map<
    string,
    { readonly fields: Fields; readonly scope: string; readonly parts: Fields[] }
  >()
  for (const { one, names } of all) {
    const [name = '', part] = names
    if (part === undefined)
      parents.set(name, { fields: plainFields(one), scope: scopeOf(one), parts: [] })
  }
  for (const { one, names } of all) {
    const [name = '', part] = names
    if (part === undefined) continue
    const scope = scopeOf(one)
    const parent = parents.get(name) ?? { fields: { name }, scope, parts: [] }
    if (parent.scope !== scope) throw new Error(`${name} and ${name}/${part} have different scopes`)
    parents.set(name, parent)
    parent.parts.push({ ...plainFields(one), subresource: part })
  }
  const resources: string[] = []
  let length = 0
  for (const [name, { fields, scope, parts }] of parents) {
    const printed = printOrdered(
      resourceFields({ ...fields, resource: name, scope, subresources: parts }),
    )
    length += printed.length
    if (length > TEXT_CHARS_MAX)
      throw new Error(`the resources of a version have more than ${TEXT_CHARS_MAX} characters`)
    resources.push(printed)
    yield
  }
  return `[${resources.join(',')}]`
}

const scopeOf = ({ namespaced }: Fields): string => (namespaced === true ? 'Namespaced' : 'Cluster')

const plainFields = ({
  group,
  version,
  kind,
  verbs,
  shortNames,
  categories,
  singularName,
}: Fields): Fields => ({
  responseKind: { group, version, kind },
  verbs,
  shortNames,
  categories,
  singularResource: singularName,
})

/**
 * Returns the fields of a resource in kube-apiserver's order. Clients of version 1.26 need a
 * responseKind.
 */
function resourceFields(resource: Fields): Fields {
  const parts = itemsOf(resource['subresources'])
  return {
    resource: textOf(resource['resource']),
    responseKind: kindFields(resource['responseKind']),
    scope: textOf(resource['scope']),
    singularResource: textOf(resource['singularResource']),
    verbs: verbsOf(resource),
    ...listed('shortNames', resource),
    ...listed('categories', resource),
    ...(parts.length === 0 ? {} : { subresources: parts.map(partFields) }),
  }
}

function partFields(part: Fields): Fields {
  const types = itemsOf(part['acceptedTypes'])
  return {
    subresource: textOf(part['subresource']),
    responseKind: kindFields(part['responseKind']),
    ...(types.length === 0 ? {} : { acceptedTypes: types.map(kindFields) }),
    verbs: verbsOf(part),
  }
}

function kindFields(value: Json | undefined): Fields {
  const { group, version, kind } = fieldsOf(value)
  return { group: textOf(group), version: textOf(version), kind: textOf(kind) }
}

const verbsOf = ({ verbs }: Fields): Json => (Array.isArray(verbs) ? textsOf(verbs) : null)

function listed(name: string, resource: Fields): Fields {
  const texts = textsOf(resource[name])
  return texts.length === 0 ? {} : { [name]: texts }
}

/** Whether a Content-Type is that of aggregated discovery. */
export function isAggregatedType(contentType: string): boolean {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim())
  const has = (parameter: string): boolean => parameters.includes(parameter)
  return (
    type.toLowerCase() === 'application/json' &&
    has('g=apidiscovery.k8s.io') &&
    (has('v=v2') || has('v=v2beta1')) &&
    has('as=APIGroupDiscoveryList')
  )
}
