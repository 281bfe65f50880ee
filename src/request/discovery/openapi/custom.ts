/**
 * OpenAPI definitions of custom resources: the schema of a CustomResourceDefinition, plus the
 * fields of every object.
 *
 * A schema is decoded for one document and then discarded, because there can be thousands of
 * schemas. A schema can change while documents are generated.
 */
import { type Fields, fieldsOf, isFields, type Json, textsOf } from '../../../api/object.ts'
import type { Resource } from '../../../registry/resource.ts'
import {
  type OpenApiDefinition,
  type OpenApiDefinitions,
  type DefinitionSource,
  refTo,
} from './definitions.ts'
import { customName } from './names.ts'

export const customInfo = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' } as const

/** Returns the definitions for a document that describes only custom resources. */
export function ofCustomKinds(
  resources: readonly Resource[],
  builtIn: OpenApiDefinitions,
): DefinitionSource {
  const source = withCustomKinds(resources, builtIn)
  const options = builtIn.ofMeta('DeleteOptions')
  return { get: (name) => (name === options ? builtIn.customDeleteOptions : source.get(name)) }
}

/**
 * Returns the definitions of the given custom resources and their lists, and all built-in
 * definitions.
 */
export function withCustomKinds(
  resources: readonly Resource[],
  builtIn: OpenApiDefinitions,
): DefinitionSource {
  const own = new Map<string, OpenApiDefinition>()
  for (const resource of resources.filter(({ isCustom }) => isCustom)) {
    own.set(customName(resource), customKind(resource, builtIn))
    const { group, version, listKind } = resource
    own.set(customName({ group, version, kind: listKind }), customList(resource, builtIn))
  }
  return { get: (name) => own.get(name) ?? builtIn.get(name) }
}

function customKind(resource: Resource, builtIn: OpenApiDefinitions): OpenApiDefinition {
  const { group, version, kind } = resource
  const { published } = resource.discovery
  const schema = published?.schema()
  const gvk = { 'x-kubernetes-group-version-kind': [{ group, kind, version }] }
  // Without a schema, describe no fields. If only some fields were described, clients would reject
  // all other fields.
  if (schema === undefined)
    return { schema: { type: 'object', ...gvk, ...selectable(resource) }, uses: new Set() }
  const objectMeta = builtIn.ofMeta('ObjectMeta')
  const ofEveryObject = {
    apiVersion: { description: builtIn.describe('Kind', 'apiVersion'), type: 'string' },
    kind: { description: builtIn.describe('Kind', 'kind'), type: 'string' },
    metadata: { allOf: [refTo(objectMeta)], description: builtIn.describe('Kind', 'metadata') },
  }
  const whole = new Publisher(ofEveryObject).publish({
    ...schema,
    properties: { ...fieldsOf(schema['properties']), ...ofEveryObject },
    type: 'object',
    ...gvk,
    ...selectable(resource),
  })
  return { schema: whole, uses: new Set([objectMeta]), isOpen: published?.isOpen ?? false }
}

function customList(resource: Resource, builtIn: OpenApiDefinitions): OpenApiDefinition {
  const { group, version, kind, listKind } = resource
  const item = customName({ group, version, kind })
  const listMeta = builtIn.ofMeta('ListMeta')
  const metadata = { allOf: [refTo(listMeta)], description: builtIn.describe('List', 'metadata') }
  const schema = builtIn.listSchema(
    { group, version, kind: listKind },
    { items: refTo(item), metadata },
  )
  return { schema: { ...schema, ...selectable(resource) }, uses: new Set([item, listMeta]) }
}

/** Returns the list of fields that field selectors support. */
function selectable({ selection }: Resource): Fields {
  const fields = Object.keys(selection.fields)
  return fields.length === 0
    ? {}
    : { 'x-kubernetes-selectable-fields': fields.map((fieldPath) => ({ fieldPath })) }
}

/**
 * Converts a schema to its published form, with properties sorted by name. An int-or-string value
 * gets two types, and an embedded resource gets the fields of every object. Values such as defaults
 * are not changed.
 */
class Publisher {
  readonly #ofEveryObject: Fields

  constructor(ofEveryObject: Fields) {
    this.#ofEveryObject = ofEveryObject
  }

  publish(schema: Fields): Fields {
    const entries = Object.entries(this.#completed(schema)).flatMap(
      ([name, value]): [string, Json | undefined][] => {
        if (unpublished.has(name)) return []
        if (Array.isArray(value)) {
          if (value.length === 0 && listed.has(name)) return []
          return [[name, combined.has(name) ? value.map((one) => this.#inner(one)) : value]]
        }
        if (!isFields(value)) return [[name, value]]
        if (name !== 'properties') return [[name, nested.has(name) ? this.publish(value) : value]]
        return Object.keys(value).length === 0 ? [] : [[name, this.#sorted(value)]]
      },
    )
    return Object.fromEntries(entries.toSorted(byName))
  }

  #completed(schema: Fields): Fields {
    if (schema['x-kubernetes-int-or-string'] === true && schema['anyOf'] === undefined) {
      return { ...schema, anyOf: [{ type: 'integer' }, { type: 'string' }] }
    }
    if (schema['x-kubernetes-embedded-resource'] !== true) return schema
    const required = new Set([...textsOf(schema['required']), 'kind', 'apiVersion'])
    const properties = { ...fieldsOf(schema['properties']), ...this.#ofEveryObject }
    return { ...schema, properties, required: [...required] }
  }

  #inner(value: Json): Json {
    return isFields(value) ? this.publish(value) : value
  }

  #sorted(properties: Fields): Fields {
    const entries = Object.entries(properties).map(([name, value = null]): [string, Json] => [
      name,
      this.#inner(value),
    ])
    return Object.fromEntries(entries.toSorted(byName))
  }
}

const nested: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not'])
const combined: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf'])
/** Fields that a CustomResourceDefinition can have, but that kube-apiserver does not publish. */
const unpublished: ReadonlySet<string> = new Set(['example', 'externalDocs'])
/** Fields that are omitted if they are empty. */
const listed: ReadonlySet<string> = new Set([...combined, 'required', 'enum'])

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)
