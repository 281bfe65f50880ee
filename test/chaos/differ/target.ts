/** A client of one server. Sends the requests of a case and returns the responses. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  AnswerTimeout,
  type Client,
  createClient,
  parseJson,
} from '../../recorded/compat/client.ts'
import { isRecord, type Json } from '../../recorded/compat/json.ts'
import { type Answer, fill, fillTarget, fillText, type Step, type Variables } from './step.ts'

/**
 * Maximum time to wait until a custom kind is served. This usually takes less than a second, but
 * much longer on a busy machine.
 */
const WAIT_MAX_MS = 10_000
const WAIT_POLL_MS = 100
/**
 * Time after which a request without a complete response counts as unanswered. The watches of a
 * case last a second.
 */
const ANSWER_MAX_MS = 30_000

export type Endpoint = { readonly url: string; readonly token: string }

export type TargetLimits = { readonly answerMsMax?: number; readonly waitMsMax?: number }

export class Target implements Disposable {
  /** Requests that did not get a complete response in time. */
  readonly unanswered: string[] = []
  readonly #client: Client
  readonly #answerMsMax: number
  readonly #waitMsMax: number

  constructor(
    { url, token }: Endpoint,
    { answerMsMax = ANSWER_MAX_MS, waitMsMax = WAIT_MAX_MS }: TargetLimits = {},
  ) {
    this.#client = createClient({ server: url, token })
    this.#answerMsMax = answerMsMax
    this.#waitMsMax = waitMsMax
  }

  async send(step: Step, variables: Variables): Promise<Answer> {
    const until = performance.now() + this.#waitMsMax
    for (;;) {
      const answer = await this.#sendOnce(step, variables).catch((error: unknown) => {
        if (error instanceof AnswerTimeout)
          this.unanswered.push(`${step.method} ${fillTarget(step, variables)}`)
        return noAnswer(error)
      })
      if (!step.wait || answer.status === 200 || performance.now() > until) return answer
      await sleep(WAIT_POLL_MS)
    }
  }

  async #sendOnce(step: Step, variables: Variables): Promise<Answer> {
    const body = bodyText(step, variables)
    const { status, headers, raw } = await this.#client.request({
      method: step.method,
      path: fillTarget(step, variables),
      headers: {
        ...(step.accept === undefined ? {} : { accept: step.accept }),
        ...(body === undefined ? {} : { 'content-type': step.type ?? 'application/json' }),
      },
      body,
      timeoutMs: this.#answerMsMax,
    })
    const contentType = headers['content-type'] ?? ''
    const warnings = headers['warning']?.split(/, (?=299 )/) ?? []
    return { status, contentType, warnings, body: parse(raw, contentType) }
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]()
  }
}

/**
 * Represents a broken connection as a response with status 0. kube-apiserver breaks the connection
 * when it panics, so this outcome is compared like a response.
 */
const noAnswer = (error: unknown): Answer => ({
  status: 0,
  contentType: '',
  warnings: [],
  body: { broken: error instanceof Error ? error.message : String(error) },
})

function bodyText({ raw, body }: Step, variables: Variables): string | undefined {
  if (raw !== undefined) return fillText(raw, variables)
  return body === undefined ? undefined : JSON.stringify(fill(body, variables))
}

function parse(raw: Buffer, contentType: string): Json {
  if (/protobuf|cbor/.test(contentType)) return { binary: textsIn(raw) }
  const text = raw.toString('utf8')
  if (!contentType.includes('json')) return text
  const value = parseJson(text)
  if (typeof value !== 'string') return value
  // The response to a watch is not a single JSON value, but contains one event per line.
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map(parseJson)
  return events.every(isRecord) ? { events } : text
}

/**
 * Returns the printable strings of a binary response. Length fields vary with the length of
 * resourceVersions, so the bytes are not comparable.
 */
const textsIn = (raw: Buffer): string[] =>
  [...raw.toString('latin1').matchAll(/[ -~]{4,}/g)].map(([text]) => text)
