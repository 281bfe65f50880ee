/**
 * Generates writes to one object of a built-in kind: updates, patches, applies, changes of scale,
 * and deletes.
 */
import { isRecord, type Json, type JsonObject } from '../../../recorded/compat/json.ts'
import type { Choices } from '../choices.ts'
import { type Mutator, subset } from '../mutate.ts'
import { type Path, places, setAt } from '../json-positions.ts'
import type { KindSeeds } from '../seeds.ts'
import type { Answer, Step } from '../step.ts'
import { type Input, patchTypes } from './input.ts'

const managers = ['m1', 'm2', 'kubectl', 'é', 'a'.repeat(128)]

export type WriterOptions = {
  readonly seeds: KindSeeds
  readonly mutator: Mutator
  readonly name: string
  /** Whether all writes of the case are dry runs. */
  readonly isDry: boolean
  readonly body: JsonObject
}

export class ObjectWriter {
  /** Whether the object has been stored. */
  exists = false
  readonly #choices: Choices
  readonly #input: Input
  readonly #of: WriterOptions
  readonly #target: string
  #count = 0
  /** Id of the step whose response holds the latest known state of the object. */
  #last = 's0'
  #current: Json

  constructor(choices: Choices, input: Input, of: WriterOptions) {
    this.#choices = choices
    this.#input = input
    this.#of = of
    this.#target = `${of.seeds.path}/${of.name}`
    this.#current = of.body
  }

  create(body: Pick<Step, 'body' | 'raw'>): Step {
    return {
      id: this.#id(),
      method: 'POST',
      path: this.#of.seeds.path,
      query: this.#query(),
      ...body,
    }
  }

  createPlain(object: JsonObject): Step {
    const metadata = isRecord(object['metadata']) ? object['metadata'] : {}
    const body = { ...structuredClone(object), metadata: { ...metadata, name: this.#of.name } }
    return { id: this.#id(), method: 'POST', path: this.#of.seeds.path, body }
  }

  read(): Step {
    return { id: this.#id(), method: 'GET', path: this.#target }
  }

  see({ id, query, path }: Step, { status, body }: Answer): void {
    if (status >= 300 || !isRecord(body) || body['kind'] === 'Status' || path.endsWith('/scale'))
      return
    if (query?.['dryRun'] !== 'All') {
      this.exists = true
      this.#last = id
    }
    if (status === 201 || query?.['dryRun'] !== 'All') this.#current = body
  }

  next(): Step {
    const choices = this.#choices
    return choices.weigh<() => Step>(
      [4, () => this.#put('')],
      [1.5, () => this.#put('/status')],
      [1.5, () => this.#jsonPatch()],
      [2, () => this.#patch(patchTypes.merge, '')],
      [2, () => this.#patch(patchTypes.strategic, '')],
      [1, () => this.#patch(choices.pick([patchTypes.merge, patchTypes.strategic]), '/status')],
      [1.5, () => this.#apply()],
      [0.7, () => this.#knownPatch()],
      [0.4, () => this.#scale()],
      [0.6, () => this.#delete()],
      [0.2, () => this.read()],
    )()
  }

  #id(): string {
    return `s${this.#count++}`
  }

  #query(): Record<string, string> {
    const choices = this.#choices
    const validation = choices.weigh([5, 'Strict'], [3, 'Warn'], [2, 'Ignore'], [0.2, 'x'])
    return {
      ...(choices.chance(0.05) ? { dryRun: choices.pick(['All', 'All', '', 'None']) } : {}),
      ...(this.#of.isDry ? { dryRun: 'All' } : {}),
      ...(choices.chance(0.5) ? { fieldValidation: validation } : {}),
      ...(choices.chance(0.3) ? { fieldManager: choices.pick(managers) } : {}),
    }
  }

  #put(suffix: string): Step {
    const choices = this.#choices
    const edits = this.#of.mutator.edits(
      this.#current,
      choices.weigh([1, 0], [5, 1], [3, 2], [1, 3]),
    )
    if (choices.chance(0.1)) edits.push(['del', ['metadata', 'resourceVersion']])
    if (choices.chance(0.05)) edits.push(['del', ['metadata', 'managedFields']])
    if (choices.chance(0.03)) edits.push(['set', ['metadata', 'managedFields'], []])
    const body = { $base: this.#last, $edits: edits }
    return {
      id: this.#id(),
      method: 'PUT',
      path: this.#target + suffix,
      query: this.#query(),
      body,
    }
  }

  #patch(type: string, suffix: string): Step {
    const choices = this.#choices
    const part = subset(choices, withoutSystem(this.#current), choices.pick([0.3, 0.5]))
    const body = this.#of.mutator.mutated(part, choices.between(1, 2))
    if (type === patchTypes.strategic && choices.chance(0.4)) addDirective(choices, body)
    if (choices.chance(0.3)) setAt(body, pathIn(choices, body), null)
    return {
      id: this.#id(),
      method: 'PATCH',
      path: this.#target + suffix,
      type,
      query: this.#query(),
      body,
    }
  }

  #apply(): Step {
    const choices = this.#choices
    const part = subset(choices, withoutSystem(this.#current), choices.pick([0.3, 0.5, 0.8]))
    const changed = this.#of.mutator.mutated(part, choices.int(2))
    const { apiVersion = '', kind = '' } = this.#of.body
    const metadata = isRecord(changed) && isRecord(changed['metadata']) ? changed['metadata'] : {}
    const identity = { apiVersion, kind, metadata: { ...metadata, name: this.#of.name } }
    const body = isRecord(changed) ? { ...changed, ...identity } : changed
    const force = choices.chance(0.5) ? { force: 'true' } : {}
    const query = { ...this.#query(), fieldManager: choices.pick(managers), ...force }
    return {
      id: this.#id(),
      method: 'PATCH',
      path: this.#target,
      type: patchTypes.apply,
      query,
      body,
    }
  }

  #jsonPatch(): Step {
    const choices = this.#choices
    const body = Array.from({ length: choices.between(1, 3) }, () => this.#operation())
    const path = this.#target + choices.weigh([9, ''], [1, '/status'])
    return {
      id: this.#id(),
      method: 'PATCH',
      path,
      type: patchTypes.json,
      query: this.#query(),
      body,
    }
  }

  #operation(): Json {
    const choices = this.#choices
    const [edit] = this.#of.mutator.edits(this.#current, 1)
    if (edit?.[0] === 'set' && choices.chance(0.6))
      return { op: choices.pick(['add', 'replace']), path: pointer(edit[1]), value: edit[2] }
    const op = choices.weigh(
      [3, 'add'],
      [3, 'replace'],
      [3, 'remove'],
      [1, 'move'],
      [1, 'copy'],
      [1, 'test'],
      [0.2, 'x'],
    )
    const at = pathIn(choices, this.#current)
    const path = pointer(choices.chance(0.15) ? [...at, choices.pick(['-', '0', 'x', ''])] : at)
    if (op === 'move' || op === 'copy')
      return { op, path, from: pointer(pathIn(choices, this.#current)) }
    if (op === 'remove' || choices.chance(0.05)) return { op, path }
    return { op, path, value: this.#input.values.any(choices) }
  }

  /**
   * Returns a request with a patch from the scenarios in test/recorded/compat. Half of these
   * patches are changed at random.
   */
  #knownPatch(): Step {
    const { patches } = this.#of.seeds
    if (patches.length === 0) return this.#apply()
    const choices = this.#choices
    const { type, body: given, suffix } = choices.pick(patches)
    const query = { ...this.#query(), ...(type === patchTypes.apply ? { fieldManager: 'm1' } : {}) }
    const body = choices.chance(0.5) ? this.#of.mutator.mutated(given, 1) : given
    return { id: this.#id(), method: 'PATCH', path: this.#target + suffix, type, query, body }
  }

  #scale(): Step {
    const choices = this.#choices
    const spec = { replicas: choices.pick<Json>([0, 1, 5, -1, null, '3', 2147483648, 1.5]) }
    const step = { id: this.#id(), path: `${this.#target}/scale`, query: this.#query() }
    if (choices.chance(0.5)) {
      const type = choices.pick([patchTypes.merge, patchTypes.strategic])
      const metadata = choices.chance(0.2)
        ? { metadata: { name: this.#input.values.name(choices) } }
        : {}
      return { ...step, method: 'PATCH', type, body: { spec, ...metadata } }
    }
    const version = choices.chance(0.3)
      ? { resourceVersion: `\${${this.#last}.metadata.resourceVersion}` }
      : {}
    const metadata = { name: this.#of.name, namespace: '$ns', ...version }
    return {
      ...step,
      method: 'PUT',
      body: { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec },
    }
  }

  #delete(): Step {
    const choices = this.#choices
    const step = { id: this.#id(), method: 'DELETE', path: this.#target }
    if (choices.chance(0.2))
      return { ...step, query: { gracePeriodSeconds: choices.pick(['0', '5', '-1', 'x']) } }
    return {
      ...step,
      body: { apiVersion: 'v1', kind: 'DeleteOptions', ...deleteOptions(choices, this.#last) },
    }
  }
}

function deleteOptions(choices: Choices, last: string): JsonObject {
  const preconditions: Json = choices.pick<Json>([
    { uid: `\${${last}.metadata.uid}` },
    { uid: 'x' },
    { resourceVersion: '1' },
    { resourceVersion: `\${${last}.metadata.resourceVersion}` },
  ])
  const policies = ['Orphan', 'Background', 'Foreground', 'X', '']
  return {
    ...(choices.chance(0.4) ? { propagationPolicy: choices.pick(policies) } : {}),
    ...(choices.chance(0.4) ? { gracePeriodSeconds: choices.pick<Json>([0, 1, 30, -1, '5']) } : {}),
    ...(choices.chance(0.2) ? { orphanDependents: choices.chance(0.5) } : {}),
    ...(choices.chance(0.2) ? { preconditions } : {}),
    ...(choices.chance(0.1) ? { dryRun: choices.pick<Json>([['All'], ['x'], 'All']) } : {}),
    ...(choices.chance(0.1)
      ? { ignoreStoreReadErrorWithClusterBreakingPotential: choices.chance(0.5) }
      : {}),
  }
}

const pointer = (path: Path): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

const pathIn = (choices: Choices, value: Json): Path => {
  const all = [...places(value)].map(({ path }) => path).filter((path) => path.length > 0)
  return all.length === 0 ? ['a'] : choices.pick(all)
}

function withoutSystem(value: Json): Json {
  if (!isRecord(value) || !isRecord(value['metadata'])) return value
  const { uid: _, resourceVersion: __, managedFields: ___, ...given } = value['metadata']
  const { creationTimestamp: ____, generation: _____, namespace: ______, ...metadata } = given
  return { ...value, metadata }
}

/** Adds a directive of a strategic merge patch at a random place. */
function addDirective(choices: Choices, value: Json): void {
  const trees = [...places(value)].map((place) => place.value).filter((place) => isRecord(place))
  if (trees.length === 0) return
  const tree = choices.pick(trees)
  const keys = Object.keys(tree)
  choices.pick<() => void>([
    () => (tree['$patch'] = choices.pick(['replace', 'delete', 'merge', 'x'])),
    () => (tree['$retainKeys'] = choices.some(keys, 0.6)),
    () =>
      (tree[
        `$deleteFromPrimitiveList/${choices.pick(['finalizers', 'args', 'accessModes', ...keys])}`
      ] = ['a', 'x']),
    () => {
      for (const [key, list] of Object.entries(tree)) {
        if (!Array.isArray(list) || choices.chance(0.3)) continue
        tree[`$setElementOrder/${key}`] = choices
          .shuffle(list)
          .map((entry) => subset(choices, entry, 0.2))
      }
    },
  ])()
}
