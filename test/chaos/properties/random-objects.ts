/**
 * Generates random JSON objects of some kinds, with unknown and repeated fields and values of wrong
 * types.
 */
import assert from 'node:assert/strict'
import type { Fields } from '../../../src/api/object.ts'
import { builtInResources } from '../../../src/registry/built-in.ts'
import { customResources } from '../../../src/registry/custom/custom-resource.ts'
import { readCrd } from '../../../src/registry/custom/crd.ts'
import type { Resource } from '../../../src/registry/resource.ts'
import type { Random } from '../simulation/random.ts'

/** Generates JSON that may have repeated keys, unknown fields and values of wrong types. */
export class Texts {
  readonly random: Random

  constructor(random: Random) {
    this.random = random
  }

  list(item: () => string, max = 9): string {
    return `[${Array.from({ length: this.random.between(0, max) }, item).join(',')}]`
  }

  map(key: () => string, value: () => string, max = 9): string {
    const members = Array.from(
      { length: this.random.between(0, max) },
      () => `${JSON.stringify(key())}:${value()}`,
    )
    return `{${members.join(',')}}`
  }

  name(prefix: string, count = 12): string {
    return `${prefix}${this.random.between(1, count)}`
  }

  text(prefix: string, count = 12): string {
    return JSON.stringify(this.name(prefix, count))
  }

  /** Returns the given text, but in rare cases a random value instead. */
  mostly(text: string, depth = 2): string {
    return this.random.chance(0.03) ? this.any(depth) : text
  }

  any(depth: number): string {
    const { random } = this
    if (depth <= 0 || random.chance(0.5)) return random.pick(scalars)
    if (random.chance(0.5)) return this.list(() => this.any(depth - 1), 5)
    return this.map(
      () => random.pick(keys),
      () => this.any(depth - 1),
      6,
    )
  }

  /**
   * Returns an object with these fields. Some are missing, repeated or followed by an unknown
   * field.
   */
  struct(fields: Readonly<Record<string, () => string>>): string {
    const { random } = this
    const members: string[] = []
    for (const [name, value] of Object.entries(fields)) {
      const times = random.chance(0.15) ? 0 : random.chance(0.08) ? 2 : 1
      for (let left = times; left > 0; left--)
        members.push(`${JSON.stringify(name)}:${this.mostly(value())}`)
      if (random.chance(0.05)) members.push(`${JSON.stringify(random.pick(keys))}:${this.any(2)}`)
    }
    return `{${members.join(',')}}`
  }
}

const scalars = [
  'null',
  '0',
  '3',
  '1.5',
  'true',
  '""',
  '"a"',
  '"delete"',
  '12345678901234567890',
  '{}',
  '[]',
]
const keys = [
  'name',
  'n',
  'deep',
  'any',
  'bogus',
  'z',
  'l',
  '__proto__',
  'a',
  'metadata',
  'kind',
  '$patch',
  'image',
  'b',
]

const metadataOf = (texts: Texts): string =>
  texts.struct({
    name: () => '"w"',
    labels: () =>
      texts.map(
        () => texts.name('k'),
        () => texts.mostly('"v"'),
      ),
    finalizers: () => texts.list(() => texts.text('f')),
    ownerReferences: () =>
      texts.list(() => texts.struct({ name: () => texts.text('o', 3), uid: () => '"u"' }), 4),
  })

export const objectText = (
  texts: Texts,
  { kind }: Resource,
  apiVersion: string,
  rest: FieldTexts,
): string =>
  texts.struct({
    apiVersion: () => JSON.stringify(apiVersion),
    kind: () => JSON.stringify(kind),
    metadata: () => metadataOf(texts),
    ...rest,
  })

type FieldTexts = Readonly<Record<string, () => string>>

export const itemText = (texts: Texts): string =>
  texts.struct({
    name: () => texts.text('n'),
    n: () => '4',
    nu: () => 'null',
    m: () =>
      texts.map(
        () => texts.name('m', 4),
        () => texts.mostly('{}'),
        4,
      ),
    deep: () => texts.random.pick(['{"l":[1,null,2]}', 'null', '{}']),
    any: () => texts.any(2),
    emb: () =>
      '{"apiVersion":"v1","kind":"X","metadata":{"name":"e","labels":{"a":"b"}},"more":[{},{}]}',
  })

const wheelText = (texts: Texts): FieldTexts => ({
  spec: () =>
    texts.struct({
      items: () => texts.list(() => itemText(texts)),
      set: () => texts.list(() => texts.text('s')),
      named: () => texts.list(() => itemText(texts)),
      map: () =>
        texts.map(
          () => texts.name('k'),
          () => itemText(texts),
        ),
    }),
})

const containerText = (texts: Texts): string =>
  texts.struct({
    name: () => texts.text('c'),
    image: () => '"i"',
    env: () =>
      texts.list(() => texts.struct({ name: () => texts.text('e'), value: () => '"v"' }), 5),
    ports: () => texts.list(() => texts.struct({ containerPort: () => '80' }), 3),
    resources: () => '{"limits":{"cpu":"1","memory":"1n"}}',
  })

const deploymentText = (texts: Texts): FieldTexts => ({
  spec: () =>
    texts.struct({
      selector: () => '{"matchLabels":{"a":"b"}}',
      template: () =>
        texts.struct({
          metadata: () => '{"labels":{"a":"b"}}',
          spec: () =>
            texts.struct({
              containers: () => texts.list(() => containerText(texts), 4),
              volumes: () => texts.list(() => texts.struct({ name: () => texts.text('v') })),
              nodeSelector: () => '{"a":"b"}',
            }),
        }),
    }),
})

const dataText = (texts: Texts): FieldTexts => ({
  data: () =>
    texts.map(
      () => texts.name('k'),
      () => texts.mostly('"YQ=="'),
      20,
    ),
  binaryData: () =>
    texts.map(
      () => texts.name('b'),
      () => '"YQ=="',
    ),
})

/**
 * Returns an OpenAPI schema. The Go type of schemas has a custom UnmarshalJSON, so decoding errors
 * refer to the fields of the schema.
 */
const schemaText = (texts: Texts, depth: number): string =>
  texts.struct({
    type: () => '"object"',
    enum: () => texts.list(() => texts.any(1), 4),
    required: () => texts.list(() => texts.text('p'), 4),
    ...(depth === 0
      ? {}
      : {
          items: () => texts.mostly(schemaText(texts, depth - 1)),
          properties: () =>
            texts.map(
              () => texts.name('p'),
              () => schemaText(texts, depth - 1),
              4,
            ),
          additionalProperties: () => texts.random.pick(['true', schemaText(texts, depth - 1)]),
        }),
  })

const definitionText = (texts: Texts): FieldTexts => ({
  spec: () =>
    texts.struct({
      group: () => '"g.example.com"',
      names: () => '{"plural":"as","kind":"A"}',
      scope: () => '"Namespaced"',
      versions: () =>
        texts.list(
          () =>
            texts.struct({
              name: () => texts.text('v', 3),
              served: () => 'true',
              schema: () => texts.struct({ openAPIV3Schema: () => schemaText(texts, 2) }),
            }),
          3,
        ),
    }),
})

const item = {
  type: 'object',
  default: { n: 3, deep: { z: 1 } },
  properties: {
    name: { type: 'string', default: 'none' },
    n: { type: 'integer', default: 5 },
    nu: { type: 'string', nullable: true },
    m: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: { d: { type: 'string', default: 'dd' } },
      },
    },
    deep: {
      type: 'object',
      default: {},
      properties: {
        z: { type: 'integer', default: 7 },
        l: { type: 'array', items: { type: 'integer', default: 9 } },
      },
    },
    any: { 'x-kubernetes-preserve-unknown-fields': true },
    emb: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
}

const { default: _, ...plainItem } = item

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        first: { type: 'string', default: 'D' },
        items: { type: 'array', items: item },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        named: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: plainItem,
        },
        map: { type: 'object', additionalProperties: item },
      },
    },
  },
}

const names = { plural: 'wheels', singular: 'wheel', kind: 'Wheel', listKind: 'WheelList' }
const versionOf = (name: string, openAPIV3Schema: Fields): Fields => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema },
})
const wheels = customResources(
  readCrd({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'wheels.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names,
      versions: [
        versionOf('v1', schema),
        versionOf('v2', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
      ],
    },
    status: { acceptedNames: names },
  }),
)
const builtIn = builtInResources()

function find(plural: string, group = ''): Resource {
  const found = builtIn.find((one) => one.plural === plural && one.group === group)
  assert.ok(found)
  return found
}

export type Kind = { readonly resource: Resource; readonly rest: (texts: Texts) => FieldTexts }

export const kinds: readonly Kind[] = [
  ...wheels.map((resource) => ({ resource, rest: wheelText })),
  { resource: find('deployments', 'apps'), rest: deploymentText },
  { resource: find('configmaps'), rest: dataText },
  { resource: find('secrets'), rest: dataText },
  { resource: find('customresourcedefinitions', 'apiextensions.k8s.io'), rest: definitionText },
]
