/**
 * Reads what a remote server says about its resources, in either form of discovery, into the texts of aggregated discovery. A document is
 * read in slices, a group at a time, and every field anew: what it says besides is not passed on.
 */
import { JsonScanner } from '../../api/json-scanner.ts'
import { parseText } from '../../api/json-value.ts'
import { type Fields, fieldsOf, itemsOf, type Json, textOf, textsOf } from '../../api/object.ts'
import { printOrdered } from '../../codec/json.ts'
import { inSlices, type Steps } from '../../lib/slices.ts'

/** A group of a remote server, which is decoded at once. */
const GROUP_CHARS_MAX = 1 << 20

/** The resources of each version, as the texts of lists in JSON, by `group/version`. */
export type RemoteResources = ReadonlyMap<string, string>

/** Of an APIGroupDiscoveryList. Fails if it is none. */
export const readAggregated = (json: Buffer): Promise<RemoteResources> => inSlices(aggregatedSteps(json.toString()))

function* aggregatedSteps(text: string): Steps<RemoteResources> {
  const found = new Map<string, string>()
  const head = new Map<string, Json>()
  const scanner = new JsonScanner(text)
  for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
    const name = scanner.readKey()
    if (name !== 'items' || scanner.peekType() !== 'array') {
      head.set(name, parseText(valueText(scanner)))
      continue
    }
    for (let next = scanner.beginArray(); next; next = scanner.nextInArray()) {
      const group = fieldsOf(parseText(valueText(scanner)))
      for (const version of itemsOf(group['versions'])) {
        const place = `${textOf(fieldsOf(group['metadata'])['name'])}/${textOf(version['version'])}`
        found.set(place, printOrdered(itemsOf(version['resources']).map(resourceFields)))
        yield
      }
    }
  }
  scanner.end()
  if (head.get('kind') !== 'APIGroupDiscoveryList' || !isKnownVersion(head.get('apiVersion')))
    throw new Error('it is not an APIGroupDiscoveryList')
  return found
}

const isKnownVersion = (apiVersion: Json | undefined): boolean =>
  apiVersion === 'apidiscovery.k8s.io/v2' || apiVersion === 'apidiscovery.k8s.io/v2beta1'

function valueText(scanner: JsonScanner): string {
  scanner.peekType()
  const start = scanner.at
  scanner.skipValue()
  if (scanner.at - start > GROUP_CHARS_MAX) throw new Error(`a group has more than ${GROUP_CHARS_MAX} characters`)
  return scanner.text.slice(start, scanner.at)
}

/** Of an APIResourceList: a server that knows no aggregated discovery has one for each version. Fails if it is none. */
export function readPlain(json: Buffer): string {
  if (json.length > GROUP_CHARS_MAX) throw new Error(`it has more than ${GROUP_CHARS_MAX} bytes`)
  const list = fieldsOf(parseText(json.toString()))
  if (list['kind'] !== 'APIResourceList') throw new Error('it is not an APIResourceList')
  const parents = new Map<string, { readonly fields: Fields; readonly scope: string; readonly parts: Fields[] }>()
  const all = itemsOf(list['resources']).map((one) => ({ one, names: textOf(one['name']).split(/\/(.*)/s) }))
  for (const { one, names } of all) {
    const [name = '', part] = names
    if (part === undefined) parents.set(name, { fields: plainFields(one), scope: scopeOf(one), parts: [] })
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
  const resources = [...parents].map(([name, { fields, scope, parts }]) =>
    resourceFields({ ...fields, resource: name, scope, subresources: parts }),
  )
  return printOrdered(resources)
}

const scopeOf = ({ namespaced }: Fields): string => (namespaced === true ? 'Namespaced' : 'Cluster')

const plainFields = ({ group, version, kind, verbs, shortNames, categories, singularName }: Fields): Fields => ({
  responseKind: { group, version, kind },
  verbs,
  shortNames,
  categories,
  singularResource: singularName,
})

/** In the order of upstream. Clients of 1.26 need a responseKind. */
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

/** Whether a Content-Type says that this is aggregated discovery. */
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
