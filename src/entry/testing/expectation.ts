/** Checks of an object. Each check waits until it holds, or explains why it does not hold. */
import { fieldsOf, itemsOf, type Json, textOf } from '../../api/object.ts'
import { type ApiClient, NOT_FOUND, OK, reasonOf } from '../apply/api-client.ts'
import { namespaceOf, pathOf, type ResourceTypes } from '../apply/resource-types.ts'
import { describeTarget, describeValue, targetOfPath } from './explain-wait.ts'
import { HIDDEN } from './object-changes.ts'
import { findMismatches } from './find-mismatches.ts'
import type { Waits } from './waits.ts'
import { isStoredObject, type StoredObject } from './write.ts'

/**
 * An object of the API, or its path such as `/api/v1/namespaces/default/pods/web`. Only apiVersion,
 * kind, name and namespace of the object are used. An object without a namespace is in `default`.
 */
export type ObjectReference =
  | string
  | {
      readonly apiVersion?: string
      readonly kind?: string
      readonly metadata?: { readonly name?: string; readonly namespace?: string }
    }

export type ExpectOptions = {
  /** The timeout in milliseconds. The default is 30 s. */
  readonly timeoutMs?: number
}

type ExpectationTools = {
  readonly client: ApiClient
  readonly types: ResourceTypes
  readonly waits: Waits
}

/** Checks an object. Returns why the check does not hold, or undefined if it holds. */
type Judge = (object: StoredObject | undefined, isSecret: boolean) => string | undefined

/**
 * Checks of an object. `cluster.expect` creates them. Each check waits until it holds, so its
 * promise must be awaited. If a check does not hold in time, its promise is rejected. As with
 * `waitFor`, the error describes the object and the last writes and refused requests.
 */
export class Expectation {
  readonly #reference: ObjectReference
  readonly #tools: ExpectationTools

  /** @internal */
  constructor(reference: ObjectReference, tools: ExpectationTools) {
    checkReference(reference)
    this.#reference = reference
    this.#tools = tools
  }

  /** Waits until the object exists, and returns it. */
  async toExist(options?: ExpectOptions): Promise<StoredObject> {
    return await this.#untilExists('to exist', () => undefined, options)
  }

  /** Waits until the object no longer exists. */
  async toBeDeleted(options?: ExpectOptions): Promise<void> {
    await this.#until('to be deleted', (object) => object && describeDeletion(object), options)
  }

  /**
   * Waits until the condition in `.status.conditions` has this status, and returns the object.
   * Example: `await cluster.expect(pod).toHaveCondition('Ready', 'True')`.
   */
  async toHaveCondition(
    type: string,
    status: 'True' | 'False' | 'Unknown' = 'True',
    options?: ExpectOptions,
  ): Promise<StoredObject> {
    const judge = (object: StoredObject): string | undefined => judgeCondition(object, type, status)
    return await this.#untilExists(`to have the condition ${type}=${status}`, judge, options)
  }

  /**
   * Waits until the object has these fields with these values, and returns the object. It may have
   * other fields. A list must have the same length, and each item must have the fields of the
   * expected item. A field that is `undefined` must not exist.
   */
  async toMatchObject(expected: object, options?: ExpectOptions): Promise<StoredObject> {
    const judge = (object: StoredObject, isSecret: boolean): string | undefined => {
      const mismatches = findMismatches(object, expected)
      if (mismatches.length === 0) return undefined
      return mismatches
        .map(({ path, actual, wanted }) =>
          isSecret
            ? `${path} is ${HIDDEN}`
            : `${path} is ${describeValue(actual)} instead of ${describeValue(wanted)}`,
        )
        .join(', ')
    }
    return await this.#untilExists('to match', judge, options)
  }

  /** Waits until a check holds, like `#until`. The check holds only if the object exists. */
  async #untilExists(
    claim: string,
    judge: (object: StoredObject, isSecret: boolean) => string | undefined,
    options: ExpectOptions | undefined,
  ): Promise<StoredObject> {
    const fault = 'the object does not exist'
    const found = await this.#until(
      claim,
      (object, isSecret) => (object === undefined ? fault : judge(object, isSecret)),
      options,
    )
    if (found === undefined) throw new Error(fault)
    return found
  }

  async #until(
    claim: string,
    judge: Judge,
    { timeoutMs }: ExpectOptions = {},
  ): Promise<StoredObject | undefined> {
    let fault: string | undefined
    const check = async (): Promise<{ object: StoredObject | undefined } | undefined> => {
      const path = await this.#path()
      const object = await this.#read(path)
      fault = judge(object, isSecretPath(path))
      return fault === undefined ? { object } : undefined
    }
    const options = {
      what: `${nameOf(this.#reference)} ${claim}`,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }
    return (await this.#tools.waits.wait(check, options, () => fault ?? 'unknown')).object
  }

  async #path(): Promise<string> {
    if (typeof this.#reference === 'string') return this.#reference
    const { apiVersion = '', kind = '', metadata = {} } = this.#reference
    const type = await this.#tools.types.find(apiVersion, kind)
    if (type === undefined) throw new Error(`the server has no kind ${kind} in ${apiVersion}`)
    const namespace = namespaceOf(type, { apiVersion, kind, metadata })
    return pathOf(type, { name: metadata.name ?? '', namespace })
  }

  async #read(path: string): Promise<StoredObject | undefined> {
    const response = await this.#tools.client({ method: 'GET', path })
    if (response.status === NOT_FOUND) return undefined
    if (response.status !== OK) throw new Error(reasonOf(response))
    const object: unknown = response.body
    if (!isStoredObject(object)) throw new Error(`${path} is not the path of an object`)
    return object
  }
}

function checkReference(reference: ObjectReference): void {
  const isComplete =
    typeof reference === 'string'
      ? (targetOfPath(reference)?.name ?? '') !== ''
      : [reference.apiVersion, reference.kind, reference.metadata?.name].every(
          (text) => text !== undefined && text !== '',
        )
  if (!isComplete)
    throw new TypeError(
      'expect needs an object with apiVersion, kind and metadata.name, or the path of an object',
    )
}

const isSecretPath = (path: string): boolean => {
  const target = targetOfPath(path)
  return target?.group === '' && target.resource === 'secrets'
}

function nameOf(reference: ObjectReference): string {
  if (typeof reference === 'string') {
    const target = targetOfPath(reference)
    return target === undefined ? reference : describeTarget(target)
  }
  const { kind = '', metadata: { name = '', namespace = '' } = {} } = reference
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`
}

function describeDeletion({ metadata }: StoredObject): string {
  const { deletionTimestamp, finalizers } = metadata
  if (deletionTimestamp === undefined) return 'the object exists and is not being deleted'
  const waiting = Array.isArray(finalizers) ? ` and waits for ${finalizers.join(', ')}` : ''
  return `the object is being deleted since ${describeValue(deletionTimestamp)}${waiting}`
}

function judgeCondition(object: StoredObject, type: string, status: string): string | undefined {
  const conditions = conditionsOf(object)
  const found = conditions.find((one) => one['type'] === type)
  if (found?.['status'] === status) return undefined
  if (found !== undefined) {
    const { status: actual, reason, message } = found
    const why = [textOf(reason), textOf(message)].filter((part) => part !== '').join(': ')
    return `${type}=${textOf(actual)}${why === '' ? '' : ` (${why})`}`
  }
  const others = conditions.map((one) => `${textOf(one['type'])}=${textOf(one['status'])}`)
  return `there is no condition ${type}${others.length === 0 ? '' : `, only ${others.join(', ')}`}`
}

function conditionsOf({ status }: StoredObject) {
  // The object was parsed from JSON.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return itemsOf(fieldsOf(status as Json | undefined)['conditions'])
}
