/**
 * Generates cases of server-side apply: several field managers apply parts of one object, and other
 * clients also change it. The kinds are in data/apply.json.
 */
import { isRecord, type Json, type JsonObject } from '../../../recorded/compat/json.ts'
import type { Choices } from '../choices.ts'
import { readObject } from '../data.ts'
import { child } from '../json-positions.ts'
import { type AppliedKind, readKinds, sample } from '../shapes.ts'
import type { Answer, Case, Edit, Step } from '../step.ts'
import { patchTypes } from './input.ts'

const { kinds, shapes } = readKinds(readObject('apply.json'))

export function* applyCase(choices: Choices): Case {
  // The custom kind is chosen more often, because it has schema features that no built-in kind has.
  const shared = kinds.filter(({ kind }) => kind === 'Shared')
  const writer = new ApplyWriter(choices, choices.pick([...kinds, ...shared, ...shared]))
  const first = writer.first()
  if (first !== undefined) yield first
  for (let left = choices.between(4, 12); left > 0; left--) {
    const step = writer.next()
    writer.see(step, yield step)
  }
  yield* writer.reads()
}

class ApplyWriter {
  readonly #choices: Choices
  readonly #of: AppliedKind
  #count = 0
  /** Id of the step whose response holds the latest known state of the object. */
  #last = 's0'

  constructor(choices: Choices, of: AppliedKind) {
    this.#choices = choices
    this.#of = of
  }

  first(): Step | undefined {
    const { kind, base, versions } = this.#of
    if (base === undefined && this.#choices.chance(0.6)) return undefined
    const version = this.#choices.pick(versions)
    const body: JsonObject = { apiVersion: version, kind, metadata: { name: 'x' }, ...base }
    const path = this.#path(version)
    if (this.#choices.chance(0.6))
      return {
        id: this.#id(),
        method: 'PATCH',
        path,
        type: patchTypes.apply,
        query: { fieldManager: 'm1' },
        body,
      }
    const query = { fieldManager: this.#choices.pick(['m1', 'creator']) }
    return { id: this.#id(), method: 'POST', path: path.replace(/\/x$/, ''), query, body }
  }

  next(): Step {
    const choices = this.#choices
    const version = choices.pick(this.#of.versions)
    const keep = choices.pick([0.2, 0.35, 0.5])
    const path = this.#path(version, choices.chance(0.1) ? '/status' : '')
    const patch = (type: string): Step => ({
      id: this.#id(),
      method: 'PATCH',
      path,
      type,
      query: { fieldManager: choices.pick(['m1', 'u1']) },
      body: this.#part(version, keep * 0.6),
    })
    return choices.weigh<() => Step>(
      [8, () => this.#apply(path, version, keep)],
      [2, () => patch(patchTypes.merge)],
      [1, () => patch(patchTypes.strategic)],
      [2, () => this.#put(path, version)],
      [0.4, () => this.#jsonPatch(version)],
      [
        0.3,
        () => ({
          id: this.#id(),
          method: 'DELETE',
          path: this.#path(version),
          query: { gracePeriodSeconds: '0' },
        }),
      ],
      [0.3, () => this.#scale(version)],
    )()
  }

  see({ id }: Step, { status, body }: Answer): void {
    if (status < 300 && child(body, 'kind') === this.#of.kind) this.#last = id
  }

  *reads(): Case {
    for (const version of this.#of.versions)
      yield { id: this.#id(), method: 'GET', path: this.#path(version) }
  }

  #apply(path: string, version: string, keep: number): Step {
    const choices = this.#choices
    const query = {
      fieldManager: choices.pick(['m1', 'm2', 'm3']),
      ...(choices.chance(0.4) ? { force: 'true' } : {}),
      ...(choices.chance(0.05) ? { dryRun: 'All' } : {}),
    }
    return {
      id: this.#id(),
      method: 'PATCH',
      path,
      type: patchTypes.apply,
      query,
      body: this.#part(version, keep),
    }
  }

  #put(path: string, version: string): Step {
    const choices = this.#choices
    const { spec, data } = this.#part(version, 0.5)
    const edits: Edit[] = Object.entries(isRecord(spec) ? spec : {}).map(([key, value]) => [
      'set',
      ['spec', key],
      value,
    ])
    if (data !== undefined) edits.push(['set', ['data'], data])
    edits.push(['set', ['metadata', 'labels'], { u: 'x' }])
    if (choices.chance(0.1))
      edits.push(['set', ['metadata', 'managedFields'], choices.pick<Json>([[], [{}], null])])
    const query = { fieldManager: choices.pick(['m2', 'u2']) }
    return {
      id: this.#id(),
      method: 'PUT',
      path,
      query,
      body: { $base: this.#last, $edits: edits },
    }
  }

  #jsonPatch(version: string): Step {
    const operation = this.#choices.pick<Json>([
      { op: 'replace', path: '/metadata/managedFields', value: [{}] },
      { op: 'add', path: '/metadata/labels', value: { j: 'x' } },
      { op: 'remove', path: '/spec' },
    ])
    return {
      id: this.#id(),
      method: 'PATCH',
      path: this.#path(version),
      type: patchTypes.json,
      body: [operation],
    }
  }

  #scale(version: string): Step {
    const isApply = this.#choices.chance(0.5)
    return {
      id: this.#id(),
      method: 'PATCH',
      path: this.#path(version, '/scale'),
      type: isApply ? patchTypes.apply : patchTypes.merge,
      query: { fieldManager: 's', ...(isApply ? { force: 'true' } : {}) },
      body: {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'x' },
        spec: { replicas: this.#choices.int(4) },
      },
    }
  }

  #id(): string {
    return `s${this.#count++}`
  }

  #path(version: string, suffix = ''): string {
    return `${this.#of.root}/${version.split('/').at(-1)}/namespaces/$ns/${this.#of.plural}/x${suffix}`
  }

  #part(version: string, keep: number): JsonObject {
    const value = sample(this.#choices, { shape: this.#of.kind }, { shapes, keep })
    const body = isRecord(value) ? value : {}
    const metadata = isRecord(body['metadata']) ? body['metadata'] : {}
    return {
      ...body,
      apiVersion: version,
      kind: this.#of.kind,
      metadata: { ...metadata, name: 'x' },
    }
  }
}
