/** Sends the cases of one field and measures each of them. */
import { isFields, type Json } from '../../../../src/api/object.ts'
import { encodeCbor } from '../../../../src/objects/codec/cbor/encode.ts'
import { encodeObject } from '../../../../src/objects/codec/protobuf/envelope.ts'
import { objectText, operationsText, partialText } from './bodies.ts'
import {
  type LargeCase,
  type otherVerbs,
  type PlannedItem,
  representations,
  type SmallCase,
  sizes,
} from './cases.ts'
import type { Answer, Call } from './client.ts'
import type { Target } from './fields.ts'
import type { LearnedField } from './learn.ts'
import { collectionOf, NAMESPACE } from './paths.ts'
import { type SweepMeasurement, NOBODY, type SweptServer, tokenOf } from './server.ts'

/**
 * Maximum number of times that a body is halved until its object can be stored. The stored form of
 * an object can be larger than its body.
 */
const HALVINGS_MAX = 5
/** Number of large objects that a case creates before it lists them. */
const LISTED = 3

export type Result = {
  readonly kind: string
  readonly field: string
  readonly path: string
  readonly step: 'large' | 'small'
  readonly verb: string
  readonly shape: string
  readonly size: string
  readonly form: string
  readonly isDryRun: boolean
  readonly atOnce: number
  readonly statuses: readonly number[]
  readonly message: string
  readonly bytes: number
  /** The measurement of the case. Undefined if the server died. */
  readonly measured: SweepMeasurement | undefined
}

/** Decides whether a case is repeated with a CPU profile. */
export type Judge = (result: Result) => boolean

/**
 * Combines two measurements of the same case, and uses the lower values. Other work on the machine
 * might have increased the values of one measurement. The CPU profile is always that of the second
 * measurement.
 */
function better(first: Result, second: Result): Result {
  if (first.measured === undefined || second.measured === undefined)
    return { ...first, measured: undefined }
  const { profile } = second.measured
  const best = first.measured.tickMs < second.measured.tickMs ? first.measured : second.measured
  const others = [first.measured.bystander, second.measured.bystander]
  const bystander = others.toSorted((one, other) => one.p99Ms - other.p99Ms)[0] ?? best.bystander
  return {
    ...first,
    measured: { ...best, bystander, ...(profile === undefined ? {} : { profile }) },
  }
}

const patchTypes = {
  'json-patch': 'application/json-patch+json',
  'merge-patch': 'application/merge-patch+json',
  'strategic-patch': 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

export class FieldRun {
  readonly #server: SweptServer
  readonly #field: LearnedField
  readonly #judge: Judge
  readonly #token: string

  constructor(server: SweptServer, field: LearnedField, judge: Judge) {
    this.#server = server
    this.#field = field
    this.#judge = judge
    this.#token = tokenOf(field.target)
  }

  async *run(item: PlannedItem): AsyncGenerator<Result> {
    if (item.large !== undefined) return yield await this.large(item.large)
    if (!(await this.store())) return
    await this.#preparePart()
    let hasCopies = false
    for (const one of item.small) {
      if (one.verb === 'list' && !hasCopies) {
        hasCopies = true
        for (let at = 1; at < LISTED; at++) await this.store(at)
      }
      yield await this.small(one)
    }
    await this.#remove(LISTED)
  }

  async large(one: LargeCase): Promise<Result> {
    const first = await this.#large(one, false)
    return this.#judge(first) ? better(first, await this.#large(one, true)) : first
  }

  async #large(one: LargeCase, hasProfile: boolean): Promise<Result> {
    const { target } = this.#field
    const isPatch = one.verb !== 'create'
    if (target.part !== undefined) await this.#preparePart()
    else if (isPatch) await this.#putSeed(one.atOnce)
    let bytesMax: number = sizes[one.size]
    for (let halvings = 0; ; halvings++) {
      const calls = Array.from({ length: one.atOnce }, (_, at) =>
        this.#largeCall(one, bytesMax, at),
      )
      const result = await this.#measure(calls, { ...one, step: 'large' }, hasProfile)
      await this.#remove(one.atOnce)
      const isTooLarge =
        one.size === 'stored' && /too large|Too long|must have at most/.test(result.message)
      if (!isTooLarge || halvings === HALVINGS_MAX) return result
      bytesMax /= 2
    }
  }

  /** Stores an object with the field filled. Returns whether the write succeeded. */
  async store(at = 0): Promise<boolean> {
    const { path, target } = this.#field
    const isStatus = path[0] === 'status' && target.subresources.includes('status')
    for (let bytesMax: number = sizes.stored; bytesMax > sizes.stored / 40; bytesMax /= 2) {
      if (isStatus) await this.#putSeed(at + 1)
      const one = {
        verb: isStatus ? 'update' : 'create',
        shape: 'distinct',
        size: 'stored',
        form: 'json',
      } as const
      const call = this.#largeCall({ ...one, isDryRun: false, atOnce: 1 }, bytesMax, at)
      const { status } = await this.#server.client.send(call)
      if (status === 201 || (isStatus && status === 200)) return true
      await remove(this.#server, `${collectionOf(target)}/${this.#name(at)}`)
    }
    return false
  }

  async small(one: SmallCase): Promise<Result> {
    const measure = (hasProfile: boolean): Promise<Result> => {
      const calls = Array.from({ length: one.atOnce }, (_, at) => this.#smallCall(one, at))
      const about = {
        ...one,
        shape: 'distinct',
        size: 'stored',
        form: one.representation,
        step: 'small',
      } as const
      return this.#measure(calls, about, hasProfile)
    }
    const first = await measure(false)
    if (!this.#judge(first)) return first
    if (one.verb === 'delete' && !(await this.store())) return first
    return better(first, await measure(true))
  }

  async #measure(
    calls: readonly Call[],
    one: Pick<Result, 'step' | 'verb' | 'shape' | 'size' | 'form' | 'isDryRun' | 'atOnce'>,
    hasProfile: boolean,
  ): Promise<Result> {
    let answers: readonly Answer[] = []
    const { client } = this.#server
    const measured = await this.#server.measure(async () => {
      answers = await Promise.all(calls.map((call, at) => client.send(call, at)))
    }, hasProfile)
    const { id, path, target } = this.#field
    return {
      kind: `${target.apiVersion} ${target.kind}`,
      field: id,
      path: path.join('.'),
      step: one.step,
      verb: one.verb,
      shape: one.shape,
      size: one.size,
      form: one.form,
      isDryRun: one.isDryRun,
      atOnce: one.atOnce,
      statuses: [...new Set(answers.map(({ status }) => status))],
      message: messageOf(answers[0]?.text ?? ''),
      bytes: Math.max(0, ...answers.map(({ bytes }) => bytes)),
      measured,
    }
  }

  #largeCall(one: LargeCase, bytesMax: number, at: number): Call {
    const { target } = this.#field
    const filling = { field: this.#field, shape: one.shape, bytesMax, item: this.#field.item }
    const metadata =
      target.part === undefined && target.isStored
        ? { name: this.#name(at) }
        : target.part
          ? { name: 'part' }
          : {}
    const query = one.isDryRun ? '?dryRun=All' : '?'
    const token = this.#token
    const isStatus = this.#field.path[0] === 'status' && target.subresources.includes('status')
    if (one.verb === 'create') {
      const method = target.part === 'delete' ? 'DELETE' : target.part === 'scale' ? 'PUT' : 'POST'
      const body = encoded(
        objectText(filling, target.part === 'delete' ? {} : metadata),
        one.form,
        target,
      )
      return {
        method,
        path: `${collectionOf(target)}${query}`,
        token,
        type: typeOfForm(one.form),
        body,
      }
    }
    const path = `${collectionOf(target)}/${this.#name(at)}${isStatus ? '/status' : ''}${query}&fieldManager=sweep&force=true`
    if (one.verb === 'update') {
      const unforced = path.replace('&force=true', '')
      return {
        method: 'PUT',
        path: unforced,
        token,
        type: 'application/json',
        body: objectText(filling, metadata),
      }
    }
    const type = patchTypes[one.verb]
    const text =
      one.verb === 'json-patch'
        ? operationsText(filling)
        : one.verb === 'apply'
          ? objectText(filling, metadata)
          : partialText(filling)
    return {
      method: 'PATCH',
      path: one.verb === 'apply' ? path : path.replace('&force=true', ''),
      token,
      type,
      body: text,
    }
  }

  #smallCall({ verb, representation, isDryRun }: SmallCase, at: number): Call {
    const { target } = this.#field
    const token = this.#token
    const parameters = [
      ...(isDryRun ? ['dryRun=All'] : []),
      ...(representation === 'pretty' ? ['pretty=true'] : []),
      ...(representation === 'table-object' ? ['includeObject=Object'] : []),
    ]
    const accept = representations[representation]
    const object = `${collectionOf(target)}/${this.#name(0)}`
    const query = (more: readonly string[] = []): string => `?${[...parameters, ...more].join('&')}`
    if (verb === 'other-eviction' || verb === 'other-pod' || verb === 'other-review')
      return otherCall(verb)
    if (verb === 'list')
      return { method: 'GET', path: `${collectionOf(target)}${query()}`, token, accept }
    if (verb === 'get') return { method: 'GET', path: `${object}${query()}`, token, accept }
    if (verb === 'delete') return { method: 'DELETE', path: object, token, accept }
    const annotations = { small: `${at}-${Date.now()}` }
    if (verb === 'update') {
      const body = JSON.stringify({
        ...target.seed,
        metadata: { name: this.#name(0), annotations },
      })
      return {
        method: 'PUT',
        path: `${object}${query(['dryRun=All'])}`,
        token,
        accept,
        type: 'application/json',
        body,
      }
    }
    const type = patchTypes[verb]
    const { apiVersion, kind } = target
    const head = { apiVersion, kind, metadata: { name: this.#name(0), annotations } }
    const body =
      verb === 'json-patch'
        ? JSON.stringify([{ op: 'add', path: '/metadata/labels', value: annotations }])
        : JSON.stringify(verb === 'apply' ? head : { metadata: { annotations } })
    const more = verb === 'apply' ? ['fieldManager=small', 'force=true'] : []
    return { method: 'PATCH', path: `${object}${query(more)}`, token, accept, type, body }
  }

  #name(at: number): string {
    return this.#field.name ?? `s-${at}`
  }

  async #putSeed(count: number): Promise<void> {
    const { target } = this.#field
    for (let at = 0; at < count; at++) {
      const own = isFields(target.seed['metadata']) ? target.seed['metadata'] : {}
      const body = JSON.stringify({ ...target.seed, metadata: { ...own, name: this.#name(at) } })
      await this.#admin('POST', collectionOf(target), body)
    }
  }

  async #remove(count = 1): Promise<void> {
    const { target } = this.#field
    if (!target.isStored) return
    for (let at = 0; at < count; at++)
      await remove(this.#server, `${collectionOf(target)}/${this.#name(at)}`)
  }

  async #preparePart(): Promise<void> {
    const place = `/api/v1/namespaces/${NAMESPACE}`
    const metadata = { name: 'part', labels: { a: 'b' } }
    const spec = { containers: [{ name: 'a', image: 'a' }] }
    await this.#admin('POST', `${place}/pods`, JSON.stringify({ metadata, spec }))
    await this.#admin('POST', `${place}/serviceaccounts`, JSON.stringify({ metadata }))
    await this.#admin('POST', `${place}/configmaps`, JSON.stringify({ metadata }))
    const template = { metadata, spec }
    const controller = { metadata, spec: { replicas: 0, selector: { a: 'b' }, template } }
    await this.#admin('POST', `${place}/replicationcontrollers`, JSON.stringify(controller))
  }

  #admin(method: string, path: string, body: string): Promise<Answer> {
    return this.#server.client.send({
      method,
      path,
      token: this.#server.adminToken,
      type: 'application/json',
      body,
    })
  }
}

function otherCall(verb: (typeof otherVerbs)[number]): Call {
  const place = `/api/v1/namespaces/${NAMESPACE}`
  const type = 'application/json'
  const metadata = { name: 'part' }
  if (verb === 'other-eviction') {
    const body = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata })
    return {
      method: 'POST',
      path: `${place}/pods/part/eviction?dryRun=All`,
      token: 'u-pods.-eviction',
      type,
      body,
    }
  }
  if (verb === 'other-pod') {
    const body = JSON.stringify({
      metadata: { name: 'other' },
      spec: { containers: [{ name: 'a', image: 'a' }] },
    })
    return { method: 'POST', path: `${place}/pods?dryRun=All`, token: 'u-pods.', type, body }
  }
  const body = JSON.stringify({
    spec: { resourceAttributes: { verb: 'get', resource: 'pods', namespace: NAMESPACE } },
  })
  return {
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    token: NOBODY,
    type,
    body,
  }
}

/** Returns the message of a Status in JSON or YAML. */
const messageOf = (text: string): string =>
  /"message":"((?:[^"\\]|\\.){0,200})/.exec(text)?.[1] ??
  /^message: (.{0,200})/m.exec(text)?.[1] ??
  (text.startsWith('Error') ? text : '')

/** Deletes an object as the administrator, and removes its finalizers. */
async function remove({ client, adminToken: token }: SweptServer, path: string): Promise<void> {
  const { status, text } = await client.send({
    method: 'DELETE',
    path: `${path}?gracePeriodSeconds=0`,
    token,
  })
  if (status === 404 || !/"finalizers"/.test(text)) return
  const body = '{"metadata":{"finalizers":null}}'
  await client.send({ method: 'PATCH', path, token, type: 'application/merge-patch+json', body })
}

const typeOfForm = (form: string): string =>
  form === 'protobuf' ? 'application/vnd.kubernetes.protobuf' : `application/${form}`

function encoded(
  text: string,
  form: LargeCase['form'],
  { struct, apiVersion, kind }: Target,
): Buffer | string {
  if (form === 'json' || form === 'yaml') return text
  const object: Json = JSON.parse(text)
  if (form === 'cbor') return encodeCbor(object)
  return isFields(object) ? encodeObject({ ...object, apiVersion, kind }, struct) : ''
}
