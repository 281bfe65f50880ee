/**
 * CustomResourceDefinitions whose kinds the sweep also tests: one with a schema, one with defaults,
 * one with rules, and one with unknown fields.
 */
import { isFields, type Json } from '../../../../src/api/object.ts'
import type { Field, Schema, Struct } from '../../../../src/objects/schema/schema.ts'
import { commonType } from '../../../../src/registry/types.ts'
import type { Target } from './fields.ts'

const group = 'sweep.example.com'
const text = { type: 'string' }
const entry = {
  type: 'object',
  properties: {
    name: text,
    size: { type: 'integer' },
    labels: { type: 'object', additionalProperties: text },
    ports: { type: 'array', items: { type: 'object', properties: { port: { type: 'integer' } } } },
  },
}
const defaulted = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'a' },
    size: { type: 'integer', default: 1 },
    place: { type: 'object', default: {}, properties: { zone: { type: 'string', default: 'z' } } },
  },
}
const ruled = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 100 },
    size: { type: 'integer', maximum: 1_000_000 },
  },
  'x-kubernetes-validations': [{ rule: '!has(self.size) || self.size >= 0' }],
}
const named = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }

const specs: { readonly [kind: string]: Json } = {
  Plain: {
    type: 'object',
    properties: {
      texts: { type: 'array', items: text },
      set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
      entries: { type: 'array', items: entry },
      named: { type: 'array', items: { ...entry, required: ['name'] }, ...named },
      map: { type: 'object', additionalProperties: text },
      maps: { type: 'object', additionalProperties: entry },
      lists: { type: 'array', items: { type: 'array', items: text } },
    },
  },
  Defaulted: {
    type: 'object',
    properties: {
      entries: { type: 'array', items: defaulted },
      maps: { type: 'object', additionalProperties: defaulted },
    },
  },
  Ruled: {
    type: 'object',
    properties: {
      entries: {
        type: 'array',
        maxItems: 1_000_000,
        items: { type: 'object', properties: ruled.properties },
      },
      limited: { type: 'array', maxItems: 100, items: ruled },
    },
  },
  Open: {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: {
      list: { type: 'array', items: { 'x-kubernetes-preserve-unknown-fields': true } },
    },
  },
}

export const definitions: readonly object[] = Object.entries(specs).map(([kind, spec]) => {
  const plural = `${kind.toLowerCase()}s`
  const openAPIV3Schema = { type: 'object', properties: { spec } }
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
})

const any: Schema = { type: 'any', goName: '' }
const openSpec = structOf('OpenSpec', {
  list: { type: 'list', goName: '', of: any },
  unknownList: { type: 'list', goName: '', of: any },
  unknownMap: { type: 'map', goName: '', of: any },
})

export const customTargets: readonly Target[] = Object.entries(specs).map(
  ([kind, spec]): Target => {
    const metadata = commonType('meta/v1', 'ObjectMeta')
    const schema = kind === 'Open' ? openSpec : schemaOf(spec, `${kind}Spec`)
    return {
      apiVersion: `${group}/v1`,
      kind,
      group,
      plural: `${kind.toLowerCase()}s`,
      isNamespaced: true,
      isStored: true,
      isCustom: true,
      struct: structOf(kind, { metadata, spec: schema }),
      verbs: ['create', 'update', 'patch'],
      subresources: [],
      seed: { apiVersion: `${group}/v1`, kind, spec: {} },
    }
  },
)

function schemaOf(given: Json, name: string): Schema {
  if (!isFields(given)) return any
  const { type, items, additionalProperties, properties } = given
  if (type === 'array')
    return { type: 'list', goName: '', of: schemaOf(items ?? null, `${name}Item`) }
  if (type === 'string') return { type: 'string', goName: '' }
  if (type === 'integer') return { type: 'int64', goName: '' }
  if (additionalProperties !== undefined)
    return { type: 'map', goName: '', of: schemaOf(additionalProperties, `${name}Value`) }
  if (!isFields(properties)) return any
  return structOf(
    name,
    Object.fromEntries(
      Object.entries(properties).map(([own, one]) => [
        own,
        schemaOf(one ?? null, `${name}.${own}`),
      ]),
    ),
  )
}

function structOf(name: string, schemas: { readonly [name: string]: Schema }): Struct {
  const fields = Object.entries(schemas).map(([own, schema]): Field => {
    const isNamed = own === 'named'
    return {
      name: own,
      schema,
      isPointer: false,
      omit: 'empty',
      isRequired: false,
      number: 0,
      topology: isNamed ? { type: 'map', keys: ['name'] } : undefined,
      patch: undefined,
      default: undefined,
    }
  })
  return {
    type: 'struct',
    name,
    packageName: group,
    goName: name,
    isAtomic: false,
    defaults: undefined,
    fields,
    byName: new Map(fields.map((field) => [field.name, field])),
    embedded: [],
  }
}
