/**
 * Generates reads of newly written objects with selectors, pages, versions and media types, and
 * watches.
 */
import type { Json, JsonObject } from '../../../recorded/compat/json.ts'
import type { Choices } from '../choices.ts'
import { Lists } from '../data.ts'
import type { Case, Step } from '../step.ts'
import { patchTypes } from './input.ts'
import { SHARED } from './shared.ts'

const words = new Lists('reads.json')

type ReadKind = {
  readonly path: string
  readonly make: (choices: Choices, name: string) => JsonObject
}

export function* readsCase(choices: Choices): Case {
  const { path, make } = choices.pick(kinds)
  const names = Array.from({ length: choices.between(2, 6) }, (_, index) => `o${index}`)
  const writer = new Writer(choices, path, names)
  for (const name of names) yield writer.created(make(choices, name))
  for (let left = choices.int(4); left > 0; left--) yield writer.next()
  const reader = new Reader(choices, path, writer)
  for (let left = choices.between(2, 6); left > 0; left--) {
    yield reader.next()
    if (choices.chance(0.3)) yield writer.next()
  }
}

class Writer {
  /** Ids of the steps whose responses have a resourceVersion. */
  readonly ids: string[] = []
  readonly #choices: Choices
  readonly #path: string
  readonly #names: readonly string[]

  constructor(choices: Choices, path: string, names: readonly string[]) {
    this.#choices = choices
    this.#path = path
    this.#names = names
  }

  created(body: JsonObject): Step {
    return { id: this.#id(), method: 'POST', path: this.#path, body }
  }

  next(): Step {
    const choices = this.#choices
    const id = this.#id()
    const path = `${this.#path}/${choices.pick(this.#names)}`
    const patch = (metadata: JsonObject): Step => ({
      id,
      method: 'PATCH',
      path,
      type: patchTypes.merge,
      body: { metadata },
    })
    return choices.weigh<() => Step>(
      [3, () => patch({ labels: { app: choices.pick<Json>(['a', 'b', null]) } })],
      [1, () => ({ id, method: 'DELETE', path, query: { gracePeriodSeconds: '0' } })],
      [1, () => patch({ annotations: { n: id } })],
    )()
  }

  #id(): string {
    const id = `w${this.ids.length}`
    this.ids.push(id)
    return id
  }
}

class Reader {
  readonly #choices: Choices
  readonly #path: string
  readonly #writer: Writer
  #count = 0
  #lastList: string | undefined

  constructor(choices: Choices, path: string, writer: Writer) {
    this.#choices = choices
    this.#path = path
    this.#writer = writer
  }

  next(): Step {
    const choices = this.#choices
    const id = `r${this.#count++}`
    const accept = choices.chance(0.5) ? { accept: choices.pick(words.texts('accepts')) } : {}
    return choices.weigh<() => Step>(
      [5, () => ({ ...this.#list(id), ...accept })],
      [2, () => ({ ...this.#get(id), ...accept })],
      [2.2, () => ({ ...this.#watch(id), ...accept })],
      [0.5, () => this.#deleteCollection(id)],
    )()
  }

  #get(id: string): Step {
    const query = this.#query({
      resourceVersion: [0.4, () => this.#version()],
      pretty: [0.1, 'true', '1', 'x'],
      includeObject: [0.1, 'None', 'Object', 'x'],
      resourceVersionMatch: [0.05, 'Exact'],
    })
    const method = this.#choices.weigh([9, 'GET'], [1, 'HEAD'])
    return { id, method, path: `${this.#path}/${this.#choices.pick(['o0', 'o1', 'nope'])}`, query }
  }

  #watch(id: string): Step {
    const choices = this.#choices
    const query = this.#query({
      ...this.#selectors(),
      resourceVersion: [0.8, () => this.#version()],
      resourceVersionMatch: [0.2, 'NotOlderThan', 'Exact', 'x'],
      sendInitialEvents: [0.2, 'true', 'false', 'x'],
      allowWatchBookmarks: [0.2, 'true', 'false', 'x'],
      limit: [0.1, '1', '0', 'x'],
    })
    const watch = choices.pick(['true', '1', 'true', 'x', ''])
    const path = choices.chance(0.1) ? `${this.#path}/o0` : this.#path
    return { id, method: 'GET', path, query: { ...query, watch, timeoutSeconds: '1' } }
  }

  #deleteCollection(id: string): Step {
    const query = this.#query({
      ...this.#selectors(),
      resourceVersion: [0.3, () => this.#version()],
      limit: [0.3, '1', '2'],
      dryRun: [0.3, 'All'],
    })
    return { id, method: 'DELETE', path: this.#path, query }
  }

  #list(id: string): Step {
    const choices = this.#choices
    const continued = this.#lastList
    const query = this.#query({
      ...this.#selectors(),
      limit: [0.5, '1', '2', '3', '500', '0', '-1', 'x', ''],
      resourceVersion: [0.4, () => this.#version()],
      resourceVersionMatch: [0.3, 'NotOlderThan', 'NotOlderThan', 'Exact', 'Exact', 'x', ''],
      continue: [continued === undefined ? 0 : 0.3, () => this.#token(continued ?? '')],
      sendInitialEvents: [0.05, 'true'],
      timeoutSeconds: [0.05, '1', '0', '-1', 'x'],
      includeObject: [0.1, 'None', 'Object', 'Metadata', 'x'],
    })
    this.#lastList = id
    const method = choices.weigh([19, 'GET'], [1, 'HEAD'])
    if (choices.chance(0.85) || query['limit'] !== undefined || query['continue'] !== undefined)
      return { id, method, path: this.#path, query }
    // A list across namespaces would also return objects of other cases. The label selects the
    // objects of this case.
    const labelSelector = `case=$ns${choices.chance(0.5) ? ',app' : ''}`
    return {
      id,
      method,
      path: this.#path.replace('/namespaces/$ns', ''),
      query: { ...query, labelSelector },
    }
  }

  #selectors(): Parameters {
    return {
      labelSelector: [0.35, ...words.texts('labelSelectors')],
      fieldSelector: [0.3, ...words.texts('fieldSelectors')],
    }
  }

  #query(parameters: Parameters): Record<string, string> {
    const choices = this.#choices
    const query: Record<string, string> = {}
    for (const [name, [chance, ...values]] of Object.entries(parameters)) {
      if (!choices.chance(chance)) continue
      const value = choices.pick(values)
      query[name] = typeof value === 'string' ? value : value()
    }
    return query
  }

  #version(): string {
    const choices = this.#choices
    return choices.weigh(
      [6, `\${${choices.pick(this.#writer.ids)}.metadata.resourceVersion}`],
      [2, '0'],
      [1, ''],
      [0.4, choices.pick(['x', '-1', '1', '00', '1.5', '999999999'])],
    )
  }

  #token(list: string): string {
    return this.#choices.weigh(
      [9, `\${${list}.metadata.continue}`],
      [1, this.#choices.pick(words.texts('tokens'))],
    )
  }
}

/**
 * Maps each query parameter to the probability that it is present, followed by its possible values.
 */
type Parameters = { readonly [name: string]: readonly [number, ...(string | (() => string))[]] }

const metadata = (choices: Choices, name: string): JsonObject => ({
  name,
  labels: {
    case: '$ns',
    ...(choices.chance(0.7) ? { app: choices.pick(['a', 'b', '']) } : {}),
    ...(choices.chance(0.3) ? { 'example.com/tier': choices.pick(['x', 'y']) } : {}),
  },
})

const template: JsonObject = {
  metadata: { labels: { a: 'b' } },
  spec: { containers: [{ name: 'c', image: 'i' }] },
}

const kinds: readonly ReadKind[] = [
  kind('/api/v1', 'configmaps', 'ConfigMap', (choices) => ({
    data: { k: choices.pick(['', 'v', 'ü']) },
  })),
  kind('/api/v1', 'secrets', 'Secret', (choices) => ({
    type: choices.pick(['Opaque', 'example.com/t']),
    stringData: { k: 'v' },
  })),
  kind('/api/v1', 'pods', 'Pod', (choices) => ({
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      restartPolicy: choices.pick(['Always', 'Never']),
      ...(choices.chance(0.5) ? { nodeName: choices.pick(['n1', 'n2']) } : {}),
    },
  })),
  kind('/apis/apps/v1', 'replicasets', 'ReplicaSet', (choices) => ({
    spec: { replicas: choices.int(3), selector: { matchLabels: { a: 'b' } }, template },
  })),
  kind('/api/v1', 'events', 'Event', (choices) => ({
    involvedObject: { kind: 'Pod', namespace: '$ns', name: choices.pick(['p', 'q']) },
    reason: choices.pick(['R', 'S']),
    type: 'Normal',
    firstTimestamp: '2020-01-01T00:00:00Z',
    lastTimestamp: '2020-01-01T00:00:00Z',
  })),
  kind(`${SHARED}/v1`, 'shareds', 'Shared', (choices) => ({
    spec: { sel: choices.pick(['x', 'y']), num: choices.int(3) },
  })),
]

function kind(
  root: string,
  plural: string,
  name: string,
  rest: (choices: Choices) => JsonObject,
): ReadKind {
  const apiVersion = root.replace(/^\/apis?\//, '')
  return {
    path: `${root}/namespaces/$ns/${plural}`,
    make: (choices, object) => ({
      apiVersion,
      kind: name,
      metadata: metadata(choices, object),
      ...rest(choices),
    }),
  }
}
