/** Generates custom kinds: a random schema, then random objects of the kind. */
import { isRecord, type Json, type JsonObject } from '../../../recorded/compat/json.ts'
import type { Choices } from '../choices.ts'
import { causesOf } from '../compare.ts'
import { optional } from '../custom-schemas.ts'
import { customValue } from '../custom-values.ts'
import { Mutator, subset } from '../mutate.ts'
import { child, textAt, valueAt } from '../json-positions.ts'
import type { Answer, Case, Step } from '../step.ts'
import { randomDefinition, repair, schemaOf, versionsOf } from './definitions.ts'
import { type Input, patchTypes } from './input.ts'
import { DEFINITIONS } from './widgets.ts'

/** Number of attempts to fix a rejected definition. */
const REPAIRS_MAX = 3

export function* crdsCase(choices: Choices, input: Input): Case {
  const definition = randomDefinition(choices, input)
  const schema = input.schemas.of(definition)
  for (let left = choices.between(0, 2); left > 0; left--) {
    const body = new Mutator(choices, input.values, input.schemas, schema).mutated(
      definition,
      choices.between(1, 2),
    )
    const query = { dryRun: 'All', ...(choices.chance(0.5) ? { fieldValidation: 'Strict' } : {}) }
    yield { id: `m${left}`, method: 'POST', path: DEFINITIONS, query, body }
  }
  let made: Answer = yield {
    id: 'd0',
    method: 'POST',
    path: DEFINITIONS,
    body: structuredClone(definition),
  }
  for (let tries = 1; made.status === 422 && tries <= REPAIRS_MAX; tries++) {
    for (const cause of causesOf(made.body)) repair(definition, textAt(cause, 'field'))
    made = yield {
      id: `d${tries}`,
      method: 'POST',
      path: DEFINITIONS,
      body: structuredClone(definition),
    }
  }
  if (made.status !== 201) return
  const writer = new WidgetWriter(choices, input, definition)
  for (const version of versionsOf(definition))
    yield { id: 'w', method: 'GET', path: writer.path(version), wait: true }
  for (let left = choices.between(12, 20); left > 0; left--) {
    const step = writer.next()
    writer.see(step, yield step)
  }
  for (const version of versionsOf(definition))
    yield { id: `g${version}`, method: 'GET', path: `${writer.path(version)}/x` }
}

class WidgetWriter {
  readonly #choices: Choices
  readonly #input: Input
  readonly #definition: JsonObject
  readonly #mutator: Mutator
  #count = 0
  /** Latest known state of the object, and the id of the step whose response holds it. */
  #last: { readonly id: string; readonly object: Json } | undefined

  constructor(choices: Choices, input: Input, definition: JsonObject) {
    this.#choices = choices
    this.#input = input
    this.#definition = definition
    this.#mutator = new Mutator(choices, input.values, input.schemas, undefined)
  }

  path(version: string): string {
    const isCluster = valueAt(this.#definition, ['spec', 'scope']) === 'Cluster'
    return `/apis/$ns.example.com/${version}${isCluster ? '' : '/namespaces/$ns'}/widgets`
  }

  see({ id }: Step, { status, body }: Answer): void {
    if (status < 300 && isRecord(body) && body['kind'] === 'Widget')
      this.#last = { id, object: body }
  }

  next(): Step {
    const choices = this.#choices
    const version = choices.pick(versionsOf(this.#definition))
    const last = this.#last
    if (last === undefined)
      return {
        ...this.#write('POST', version),
        path: this.path(version),
        body: this.#object(version),
      }
    const merge = { type: patchTypes.merge }
    return choices.weigh<() => Step>(
      [2, () => ({ ...this.#write('PUT', version), body: this.#replacing(version, last.id) })],
      [2, () => ({ ...this.#write('PUT', version), body: this.#edited(version, last) })],
      [2, () => ({ ...this.#write('PATCH', version), ...merge, body: this.#part(version) })],
      [3, () => this.#apply(version)],
      [
        0.7,
        () => ({
          ...this.#write('PATCH', version),
          type: patchTypes.json,
          body: [this.#operation()],
        }),
      ],
      [0.5, () => ({ ...this.#read(`${this.path(version)}/x`), accept: choices.pick(accepts) })],
      [0.5, () => ({ ...this.#read(this.path(version)), ...this.#selector() })],
      [0.4, () => this.#read(`${this.path(version)}/x/scale`)],
      [0.2, () => this.#scale(version)],
    )()
  }

  #id(): string {
    return `s${this.#count++}`
  }

  #read(path: string): Step {
    return { id: this.#id(), method: 'GET', path }
  }

  #write(method: string, version: string): Step {
    const path = `${this.path(version)}/x${this.#choices.chance(0.12) ? '/status' : ''}`
    return { id: this.#id(), method, path, query: this.#query() }
  }

  #query(): Record<string, string> {
    const choices = this.#choices
    return choices.chance(0.4)
      ? { fieldValidation: choices.pick(['Strict', 'Warn', 'Ignore']) }
      : {}
  }

  #object(version: string): JsonObject {
    const options = { values: this.#input.values, depth: 4, wrong: 0.012 }
    const value = customValue(this.#choices, schemaOf(this.#definition, version), options)
    const metadata = { name: 'x', ...optional(this.#choices, { labels: [0.2, { a: 'b' }] }) }
    return {
      ...(isRecord(value) ? value : {}),
      apiVersion: `$ns.example.com/${version}`,
      kind: 'Widget',
      metadata,
    }
  }

  #replacing(version: string, last: string): Json {
    const resourceVersion = `\${${last}.metadata.resourceVersion}`
    return { ...this.#object(version), metadata: { name: 'x', resourceVersion } }
  }

  #edited(version: string, { id, object }: { readonly id: string; readonly object: Json }): Json {
    const edits = this.#mutator.edits(object, this.#choices.between(1, 2))
    return { $base: id, $edits: [...edits, ['set', ['apiVersion'], `$ns.example.com/${version}`]] }
  }

  #part(version: string): Json {
    return { spec: child(subset(this.#choices, this.#object(version), 0.5), 'spec') ?? {} }
  }

  #apply(version: string): Step {
    const choices = this.#choices
    const step = this.#write('PATCH', version)
    const force = choices.chance(0.6) ? { force: 'true' } : {}
    const query = { ...step.query, fieldManager: choices.pick(['m1', 'm2']), ...force }
    return { ...step, type: patchTypes.apply, query, body: this.#object(version) }
  }

  #operation(): Json {
    const choices = this.#choices
    const path = choices.pick(['/spec/a', '/spec/b', '/spec', '/spec/c/0', '/spec/unknown'])
    return {
      op: choices.pick(['replace', 'remove', 'add']),
      path,
      value: this.#input.values.any(choices),
    }
  }

  #selector(): Pick<Step, 'query'> {
    const selectors = ['spec.a=a', 'spec.b=1', 'spec.c=true', 'spec.d!=x', 'metadata.name=x']
    return this.#choices.chance(0.5)
      ? { query: { fieldSelector: this.#choices.pick(selectors) } }
      : {}
  }

  #scale(version: string): Step {
    const body = { spec: { replicas: this.#choices.pick<Json>([0, 3, -1, null]) } }
    const path = `${this.path(version)}/x/scale`
    return { id: this.#id(), method: 'PATCH', path, type: patchTypes.merge, body }
  }
}

const accepts = [
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/json',
  'application/yaml',
]
