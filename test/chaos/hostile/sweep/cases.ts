/**
 * Plans the requests for one field: a create of every shape and size, and pairwise combinations of
 * the other verbs, body formats and numbers of concurrent requests.
 */
import { type Shape, shapes } from './bodies.ts'
import type { SweptField } from './fields.ts'

/** Verbs that send a body in which the field is filled. */
export const largeVerbs = [
  'create',
  'update',
  'json-patch',
  'merge-patch',
  'strategic-patch',
  'apply',
] as const
export type LargeVerb = (typeof largeVerbs)[number]

export const bodyForms = ['json', 'yaml', 'cbor', 'protobuf'] as const
export type BodyForm = (typeof bodyForms)[number]

/**
 * Sizes in bytes: the largest body that the server reads, and approximately the largest object that
 * etcd stores.
 */
export const sizes = { body: 3 * 1024 * 1024 - 4096, stored: 1_350_000 } as const
export type Size = keyof typeof sizes

export type LargeCase = {
  readonly verb: LargeVerb
  readonly shape: Shape
  readonly size: Size
  readonly form: BodyForm
  readonly isDryRun: boolean
  readonly atOnce: number
}

/** Verbs of small requests to an object that has a large field. */
export const smallVerbs = [
  'update',
  'json-patch',
  'merge-patch',
  'strategic-patch',
  'apply',
] as const
export const representations = {
  json: 'application/json',
  pretty: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
  cbor: 'application/cbor',
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  'table-object': 'application/json;as=Table;v=v1;g=meta.k8s.io',
  metadata: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
} as const
export type Representation = keyof typeof representations
export const allRepresentations: readonly Representation[] = [
  'json',
  'pretty',
  'yaml',
  'protobuf',
  'cbor',
  'table',
  'table-object',
  'metadata',
]

/**
 * Verbs of small requests that other users send. To process such a request, the server may read the
 * large object, for example if the object is a quota or a role.
 */
export const otherVerbs = ['other-eviction', 'other-pod', 'other-review'] as const

export type SmallCase = {
  readonly verb:
    | (typeof smallVerbs)[number]
    | (typeof otherVerbs)[number]
    | 'get'
    | 'list'
    | 'delete'
  readonly representation: Representation
  readonly isDryRun: boolean
  readonly atOnce: number
}

export const AT_ONCE = 16

/**
 * Number of options of each sort that are used for one field: body formats, verbs, small writes,
 * small requests of other users, and small reads. The next field gets the options that follow in
 * the list.
 */
const FORMS_PER_FIELD = 1
const VERBS_PER_FIELD = 2
const WRITES_PER_FIELD = 2
const OTHERS_PER_FIELD = 1
const READS_PER_FIELD = 4

/**
 * Returns the `count` options for the field at `index`. The options of the next field follow in the
 * list. After the end of the list, its beginning follows.
 */
const turnOf = <T>(all: readonly T[], count: number, index: number): T[] =>
  Array.from(
    { length: Math.min(count, all.length) },
    (_, at) => all[(index * count + at) % all.length],
  ).filter((one) => one !== undefined)

/**
 * Returns the cases with large bodies. Each field gets a create of every shape. Neighboring fields
 * get different combinations of the other options, so that all fields together cover each pair of
 * options. `index` is the number of the field.
 */
export function largeCases({ target, isShared }: SweptField, index: number): LargeCase[] {
  const usual = { form: 'json', isDryRun: false, atOnce: 1 } as const
  const shapeAt = (at: number): Shape => shapes[(index + at) % shapes.length] ?? 'empty'
  const sizeAt = (at: number): Size => ((index + at) % 2 === 0 ? 'body' : 'stored')
  if (isShared)
    return [
      { ...usual, verb: 'create', shape: shapeAt(0), size: sizeAt(0), isDryRun: index % 3 === 0 },
    ]
  const creates = shapes.map((shape, at): LargeCase => {
    return { ...usual, verb: 'create', shape, size: sizeAt(at), isDryRun: (index + at) % 3 === 0 }
  })
  const together: LargeCase = {
    ...usual,
    verb: 'create',
    shape: shapeAt(0),
    size: sizeAt(0),
    atOnce: AT_ONCE,
  }
  const forms = turnOf(['yaml', 'cbor', 'protobuf'] as const, FORMS_PER_FIELD, index).map(
    (form, at): LargeCase => {
      const shape = shapeAt(Math.floor(index / 3))
      return {
        ...usual,
        verb: 'create',
        shape,
        size: sizeAt(at + 1),
        form,
        isDryRun: index % 4 === 0,
      }
    },
  )
  const readable =
    target.isCustom === true ? forms.filter(({ form }) => form !== 'protobuf') : forms
  if (!target.isStored) return [...creates, together, ...readable]
  // Custom kinds do not support strategic merge patches.
  const verbs = largeVerbs
    .slice(1)
    .filter((verb) => verb !== 'strategic-patch' || target.isCustom !== true)
  const others = turnOf(verbs, VERBS_PER_FIELD, index).map((verb, at): LargeCase => {
    return {
      ...usual,
      verb,
      shape: shapeAt(at + Math.floor(index / shapes.length)),
      size: sizeAt(at),
      isDryRun: (index + at) % 4 === 0,
      atOnce: (index + at) % 3 === 0 ? AT_ONCE : 1,
    }
  })
  return [...creates, together, ...readable, ...others]
}

const allReads = allRepresentations.flatMap((representation) =>
  (['get', 'list'] as const).map((verb) => ({ verb, representation })),
)

export function smallCases(index: number): SmallCase[] {
  const writes = turnOf(smallVerbs, WRITES_PER_FIELD, index).map((verb, at): SmallCase => {
    const representation = allRepresentations[(index + at) % allRepresentations.length] ?? 'json'
    return {
      verb,
      representation,
      isDryRun: (index + at) % 3 === 0,
      atOnce: (index + at) % 4 === 0 ? AT_ONCE : 1,
    }
  })
  const others = turnOf(otherVerbs, OTHERS_PER_FIELD, index).map((verb): SmallCase => {
    return { verb, representation: 'json', isDryRun: true, atOnce: 1 }
  })
  const together = Math.floor(index / READS_PER_FIELD) % READS_PER_FIELD
  const reads = turnOf(allReads, READS_PER_FIELD, index).map((read, at): SmallCase => {
    return { ...read, isDryRun: false, atOnce: at === together ? AT_ONCE : 1 }
  })
  return [
    ...writes,
    ...others,
    ...reads,
    { verb: 'delete', representation: 'json', isDryRun: false, atOnce: 1 },
  ]
}

/**
 * A planned step of the sweep. It consists of one large request, or of several small requests to
 * the same stored object.
 */
export type PlannedItem = { readonly field: SweptField } & (
  | { readonly large: LargeCase }
  | { readonly large?: undefined; readonly small: readonly SmallCase[] }
)

export function plan(fields: readonly SweptField[]): PlannedItem[] {
  return fields.flatMap((field, index): PlannedItem[] => [
    ...largeCases(field, index).map((large): PlannedItem => ({ field, large })),
    ...(field.target.isStored && !field.isShared ? [{ field, small: smallCases(index) }] : []),
  ])
}

/**
 * The name of a case, as an object. For small requests, `form` is the representation that the
 * client requests.
 */
export type CaseName = {
  readonly kind: string
  readonly path: string
  readonly step: string
  readonly verb: string
  readonly shape: string
  readonly size: string
  readonly form: string
  readonly isDryRun: boolean
  readonly atOnce: number
}

/**
 * Returns the planned steps without the cases that `isChosen` rejects. A step without any remaining
 * case is left out.
 */
export function chooseCases(
  items: readonly PlannedItem[],
  isChosen: (name: CaseName) => boolean,
): PlannedItem[] {
  return items.flatMap((item): PlannedItem[] => {
    const { path, target } = item.field
    const about = { kind: `${target.apiVersion} ${target.kind}`, path: path.join('.') }
    if (item.large !== undefined)
      return isChosen({ ...about, ...item.large, step: 'large' }) ? [item] : []
    const small = item.small.filter((one) => isChosen({ ...about, ...smallName(one) }))
    return small.length === 0 ? [] : [{ field: item.field, small }]
  })
}

const smallName = ({
  verb,
  representation,
  isDryRun,
  atOnce,
}: SmallCase): Omit<CaseName, 'kind' | 'path'> => ({
  step: 'small',
  verb,
  shape: 'distinct',
  size: 'stored',
  form: representation,
  isDryRun,
  atOnce,
})

/** Returns a text that identifies a case. */
export const textOf = ({
  kind,
  path,
  step,
  verb,
  shape,
  size,
  form,
  isDryRun,
  atOnce,
}: CaseName): string => [kind, path, step, verb, shape, size, form, isDryRun, atOnce].join(' ')

/** Maximum number of small requests to one stored object if only a part of the sweep is run. */
const SMALL_CASES_MAX = 5

/**
 * Splits each planned step with many small requests into steps of at most SMALL_CASES_MAX requests.
 * Moves a step to the end if all its pairs of options, such as a verb and a size, occur in earlier
 * steps.
 */
export function variedFirst(items: readonly PlannedItem[]): PlannedItem[] {
  const seen = new Set<string>()
  const first: PlannedItem[] = []
  const later: PlannedItem[] = []
  for (const item of items.flatMap((one) => pieces(one))) {
    const unseen = pairsOf(item).filter((pair) => !seen.has(pair))
    for (const pair of unseen) seen.add(pair)
    if (unseen.length > 0) first.push(item)
    else later.push(item)
  }
  return [...first, ...later]
}

function pieces(item: PlannedItem): PlannedItem[] {
  if (item.large !== undefined) return [item]
  const { field, small } = item
  const count = Math.ceil(small.length / SMALL_CASES_MAX)
  return Array.from({ length: count }, (_, at) => ({
    field,
    small: small.slice(at * SMALL_CASES_MAX, (at + 1) * SMALL_CASES_MAX),
  }))
}

function pairsOf(item: PlannedItem): string[] {
  const { container } = item.field
  const type = `${container.type} of ${container.of.type}`
  if (item.large === undefined) {
    return item.small.flatMap(({ verb, representation, atOnce }) => [
      `${verb} ${representation}`,
      `${verb} ${atOnce}`,
      `${verb} ${type}`,
    ])
  }
  const { verb, shape, form, size, atOnce } = item.large
  return [
    `${verb} ${shape}`,
    `${shape} ${type}`,
    `${verb} ${size}`,
    `${form} ${shape}`,
    `${verb} ${atOnce}`,
    `${shape} ${atOnce}`,
  ]
}
