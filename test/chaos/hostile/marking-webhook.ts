/**
 * A webhook in its own process that marks every write that it allows. A mutating webhook adds a
 * label to the object. A validating one writes to a journal on disk before it responds. The process
 * can be killed, stopped and restarted, and can misbehave on request.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createSecureServer, type Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Fields, fieldsOf, textOf } from '../../../src/api/object.ts'
import type { IssuedCertificate } from '../../support/harness/issued-certificate.ts'

export const modes = [
  'right',
  'hang',
  'reset',
  'garbage',
  'error',
  'slow',
  'late',
  'other uid',
] as const
export type Mode = (typeof modes)[number]

/** Delays of a response: one is shorter than every timeout, and one is longer. */
const SLOW_MS = 300
const LATE_MS = 3_000

export type MarkingOptions = {
  /** Number of the process. Its webhooks are `m<at>` and `v<at>`, at paths with these names. */
  readonly at: number
  readonly port: number
  readonly isHttp2: boolean
  readonly certificate: IssuedCertificate
  readonly journal: string
}

export const markOf = (webhook: string): string => `mark-${webhook}`

export class MarkingWebhook implements AsyncDisposable {
  readonly options: MarkingOptions
  #child: ChildProcess | undefined
  #isStopped = false

  constructor(options: MarkingOptions) {
    this.options = options
  }

  async start(): Promise<void> {
    const child = fork(import.meta.filename, ['--serve'], {
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    this.#child = child
    child.send(this.options)
    await Promise.race([once(child, 'message'), once(child, 'exit')])
  }

  async kill(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  /** Stops the process. Its connections stay open, but it does not read from them. */
  stop(): void {
    this.#isStopped = true
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    if (this.#isStopped) this.#child?.kill('SIGCONT')
    this.#isStopped = false
  }

  misbehave(mode: Mode): void {
    if (this.#child?.connected) this.#child.send({ mode })
  }

  /** Returns the writes that the validating webhook of this process has allowed. */
  allowed(): ReadonlySet<string> {
    const { journal } = this.options
    return new Set(existsSync(journal) ? readFileSync(journal, 'utf8').split('\n') : [])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }
}

type Reply = ServerResponse | Http2ServerResponse

function serve({ at, port, isHttp2, certificate, journal }: MarkingOptions): void {
  let mode: Mode = 'right'
  process.on('message', (reported: { readonly mode?: Mode }) => {
    if (reported.mode !== undefined) mode = reported.mode
  })
  process.on('disconnect', () => process.exit())

  const decide = (webhook: string, request: Fields): Fields => {
    const { data } = fieldsOf(request['object'])
    const { write, deny } = fieldsOf(data)
    if (deny === webhook) return { allowed: false }
    if (webhook.startsWith('v')) {
      appendFileSync(journal, `${textOf(write)}\n`)
      return { allowed: true }
    }
    const operations = [{ op: 'add', path: `/metadata/labels/${markOf(webhook)}`, value: write }]
    return {
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
    }
  }

  const answer = (reply: Reply, webhook: string, body: string): void => {
    if (mode === 'hang') return
    if (mode === 'reset') destroy(reply)
    else if (mode === 'garbage') reply.end('{"kind":')
    else if (mode === 'error') {
      reply.statusCode = 503
      reply.end('not now')
    } else {
      const isOther = mode === 'other uid'
      const review: Fields = JSON.parse(body)
      const request = fieldsOf(review['request'])
      const send = (): void => {
        const decided = isOther ? { allowed: true } : decide(webhook, request)
        const response = { uid: isOther ? 'other' : request['uid'], ...decided }
        reply.end(
          JSON.stringify({ apiVersion: review['apiVersion'], kind: 'AdmissionReview', response }),
        )
      }
      const delayMs = mode === 'slow' ? SLOW_MS : mode === 'late' ? LATE_MS : 0
      if (delayMs === 0) send()
      else setTimeout(send, delayMs)
    }
  }

  const handle = (request: IncomingMessage | Http2ServerRequest, reply: Reply): void => {
    reply.on('error', () => undefined)
    const { pathname } = new URL(request.url ?? '/', 'https://webhook')
    text(request)
      .then((body) => answer(reply, pathname.slice(1), body))
      .catch(() => destroy(reply))
  }

  const { certificatePem: cert, keyPem: key } = certificate
  const server = isHttp2
    ? createSecureServer({ cert, key, allowHTTP1: true }, handle).on(
        'sessionError',
        () => undefined,
      )
    : createServer({ cert, key }, handle)
  server.listen(port, '127.0.0.1', () => process.send?.({ at }))
}

const destroy = (reply: Reply): void => {
  if (reply instanceof Http2ServerResponse) reply.stream.session?.destroy()
  else reply.destroy()
}

if (process.argv.includes('--serve') && import.meta.main) {
  const [options]: MarkingOptions[] = await once(process, 'message')
  if (options !== undefined) serve(options)
}
