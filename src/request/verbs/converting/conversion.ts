/**
 * Calls the conversion webhook of a CustomResourceDefinition to convert custom objects to another
 * version. One call converts many objects.
 */
import { type ApiError, unclassified } from '../../../api/errors.ts'
import { checkLabelValue, checkQualifiedName, labelTextOf } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  type KubeObject,
  type ObjectMeta,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { printOrdered, printString } from '../../../objects/codec/json.ts'
import { objectText } from '../../../objects/codec/object.ts'
import type { Struct } from '../../../objects/schema/schema.ts'
import { fieldsIn } from '../../../net/outbound/body.ts'
import { Webhook, WebhookError, type WebhookClientOptions } from '../../../net/outbound/call.ts'

const TIMEOUT_MS = 30_000
const reviewGroup = 'apiextensions.k8s.io'

export class ConversionWebhook {
  readonly #webhook: Webhook
  readonly #reviewVersion: string
  readonly #newId: () => string
  readonly #release: number

  /**
   * Creates the client. `webhook` is the field spec.conversion.webhook of the
   * CustomResourceDefinition.
   */
  constructor(
    webhook: Fields,
    { newId, release }: { readonly newId: () => string; readonly release: number },
    options: WebhookClientOptions,
  ) {
    this.#webhook = new Webhook(fieldsOf(webhook['clientConfig']), TIMEOUT_MS, options)
    const known = textsOf(webhook['conversionReviewVersions']).find(
      (name) => name === 'v1' || name === 'v1beta1',
    )
    this.#reviewVersion = `${reviewGroup}/${known ?? 'v1'}`
    this.#newId = newId
    this.#release = release
  }

  /**
   * Converts objects of the same kind and version. The objects are read before the call and again
   * after the response, so that they do not remain in memory while the webhook is called. Fails
   * with an ApiError if the conversion fails.
   */
  async convert(
    objects: Originals,
    apiVersion: string,
    struct: Struct,
  ): Promise<readonly KubeObject[]> {
    const first = typeOf(objects.at(0))
    if (first === undefined) return []
    const gvk = `conversion webhook for ${first.apiVersion}, Kind=${first.kind}`
    const converted = await this.#call(objects, { apiVersion, struct, gvk })
    if (converted.length !== objects.length) {
      throw unclassified(`${gvk} returned ${converted.length} objects, expected ${objects.length}`)
    }
    const read = converted.map(readConverted)
    for (const [at, one] of read.entries())
      checkType(one, { at, gvk, apiVersion, kind: first.kind })
    return read.flatMap((one, at) => {
      const original = objects.at(at)
      return original === undefined
        ? []
        : [restored(one, original, { gvk, release: this.#release })]
    })
  }

  async #call(
    objects: Originals,
    {
      apiVersion,
      struct,
      gvk,
    }: { readonly apiVersion: string; readonly struct: Struct; readonly gvk: string },
  ): Promise<readonly Json[]> {
    const uid = this.#newId()
    const review =
      `{"kind":"ConversionReview","apiVersion":${printString(this.#reviewVersion)},` +
      `"request":{"uid":${printString(uid)},"desiredAPIVersion":${printString(apiVersion)},"objects":[${printAll(objects, struct)}]},` +
      '"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}'
    try {
      const text = await this.#webhook.post(review, AbortSignal.timeout(TIMEOUT_MS))
      return this.#objectsIn(parse(text), uid)
    } catch (error) {
      if (error instanceof WebhookError)
        throw unclassified(`${gvk} failed: ${error.message}`, error)
      throw error
    }
  }

  #objectsIn(review: Fields, uid: string): readonly Json[] {
    const [kind, apiVersion] = [textOf(review['kind']), textOf(review['apiVersion'])]
    if (kind !== 'ConversionReview' || apiVersion !== this.#reviewVersion) {
      throw new WebhookError(this.#typeFault(kind, apiVersion))
    }
    if (!isFields(review['response'])) throw new WebhookError('no response provided')
    const { response } = review
    const found = textOf(response['uid'])
    if (found !== uid)
      throw new WebhookError(`expected response.uid=${quote(uid)}, got ${quote(found)}`)
    const { status, message } = fieldsOf(response['result'])
    if (status !== 'Success') {
      const why = `response.result.status was '${textOf(status)}', not 'Success'`
      throw new WebhookError(textOf(message) === '' ? why : textOf(message))
    }
    const { convertedObjects } = response
    return Array.isArray(convertedObjects) ? convertedObjects : []
  }

  #typeFault(kind: string, apiVersion: string): string {
    if (kind === '' || apiVersion === '') {
      return `expected webhook response of ${this.#reviewVersion}, Kind=ConversionReview, got /${apiVersion}, Kind=${kind}`
    }
    if (kind === 'Status' && apiVersion === 'v1') return this.#otherType('v1.Status')
    if (kind !== 'ConversionReview' || !apiVersion.startsWith(`${reviewGroup}/`)) {
      return `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"`
    }
    return this.#otherType(`${versionOf(apiVersion)}.ConversionReview`)
  }

  #otherType(given: string): string {
    return `converting (${given}) to (${versionOf(this.#reviewVersion)}.ConversionReview): unknown conversion`
  }
}

export type Originals = Pick<readonly KubeObject[], 'length' | 'at'>

const typeOf = (
  object: KubeObject | undefined,
): Pick<KubeObject, 'apiVersion' | 'kind'> | undefined =>
  object && { apiVersion: object.apiVersion, kind: object.kind }

function printAll(objects: Originals, struct: Struct): string {
  const texts: string[] = []
  for (let at = 0; at < objects.length; at++) {
    const object = objects.at(at)
    if (object !== undefined) texts.push(objectText(withoutVersion(object), struct))
  }
  return texts.join(',')
}

const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1)

function withoutVersion(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

const notAnObject =
  'couldn\'t get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/**
 * Parses a response. kube-apiserver parses it as YAML. In YAML, text that is not JSON is a string,
 * and the error message contains this string.
 */
function parse(text: string): Fields {
  const fields = fieldsIn(text)
  if (fields === undefined) throw new WebhookError(notAnObject)
  return fields
}

function readConverted(value: Json): Fields {
  if (value === null) throw unclassified('unexpected end of JSON input')
  if (!isFields(value)) {
    const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    throw unclassified(
      `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
    )
  }
  if (textOf(value['kind']) === '')
    throw unclassified(`Object 'Kind' is missing in '${printOrdered(value)}'`)
  return value
}

type ConversionRequest = {
  readonly at: number
  readonly gvk: string
  readonly apiVersion: string
  readonly kind: string
}

function checkType(object: Fields, { at, gvk, apiVersion, kind }: ConversionRequest): void {
  const refuse = (what: string, expected: string, received: string): ApiError =>
    unclassified(
      `${gvk} returned invalid object at index ${at}: invalid ${what} (expected ${expected}, received ${received})`,
    )
  const given = textOf(object['apiVersion'])
  if (given !== apiVersion) throw refuse('groupVersion', apiVersion, given)
  const givenKind = textOf(object['kind'])
  if (givenKind !== kind) throw refuse('kind', kind, givenKind)
}

/** The values on which errors about a converted object depend. */
type ErrorContext = { readonly gvk: string; readonly release: number }

/**
 * Returns the converted object with the original metadata, except for labels and annotations. A
 * webhook is not allowed to change other metadata.
 */
function restored(converted: Fields, original: KubeObject, context: ErrorContext): KubeObject {
  const { gvk } = context
  const given = fieldsOf(converted['metadata'])
  for (const [name, shown] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [before, after] = [original.metadata[name] ?? '', textOf(given[name])]
    if (before !== after) {
      throw unclassified(
        `${gvk} returned invalid object: must have the same ${shown}: ${before} != ${after}`,
      )
    }
  }
  const { labels: _, annotations: __, ...kept } = original.metadata
  const metadata: ObjectMeta = {
    ...kept,
    ...textsAt(given, 'labels', context),
    ...textsAt(given, 'annotations', context),
  }
  return {
    ...converted,
    kind: original.kind,
    apiVersion: textOf(converted['apiVersion']),
    metadata,
  }
}

function textsAt(
  metadata: Fields,
  name: 'labels' | 'annotations',
  { gvk, release }: ErrorContext,
): Partial<ObjectMeta> {
  const given = metadata[name]
  if (given === undefined || given === null) return {}
  const refuse = (why: string): ApiError => unclassified(`${gvk} returned invalid metadata: ${why}`)
  if (!isFields(given))
    throw refuse(`invalid metadata.${name} of type ${goType(given)} in converted object`)
  for (const [key, value = null] of Object.entries(given)) {
    if (typeof value !== 'string') {
      throw refuse(
        `metadata.${name}[${key}] must be a string, but is ${goType(value)} in converted object`,
      )
    }
    const place = name === 'labels' ? 'metadata.labels' : 'metadata.annotation'
    const [why] = checkQualifiedName(name === 'labels' ? key : key.toLowerCase())
    if (why !== undefined)
      throw refuse(`${place}: Invalid value: ${quote(key)}: ${labelTextOf(why, release)}`)
    const [valueFault] = name === 'labels' ? checkLabelValue(value) : []
    if (valueFault !== undefined)
      throw refuse(`${place}: Invalid value: ${quote(value)}: ${labelTextOf(valueFault, release)}`)
  }
  const texts = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, textOf(value)]),
  )
  return Object.keys(texts).length === 0 ? {} : { [name]: texts }
}

function goType(value: Json): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'string' || typeof value === 'bigint')
    return typeof value === 'string' ? 'string' : 'int64'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return 'map[string]interface {}'
}
