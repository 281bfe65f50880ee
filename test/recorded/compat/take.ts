/** Runs one step against the server and returns the raw response. */
import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { type AuditTrail, inOrder } from './audit.ts'
import { type Client, type HeaderValue, type HttpRequest, mediaType, parseBody } from './client.ts'
import { CollectedWatch } from './collect.ts'
import type { Companions } from './companions.ts'
import { credentialsOf, tokenOf } from './credentials.ts'
import type { Json } from './json.ts'
import type {
  AskOptions,
  AuditedStep,
  BodyOptions,
  HookedStep,
  PollStep,
  Step,
  Variables,
  WatchedStep,
  WatchStep,
} from './steps.ts'
import { fill, fillHeaders, fillTarget } from './template.ts'

/**
 * Maximum time to wait for the headers of a watch. After this time, the next step runs even without
 * them.
 */
const WATCH_START_MAX_MS = 5_000
/**
 * Time to wait after the headers of a watch have arrived. In this time, the server registers the
 * watcher.
 */
const WATCH_SETTLE_MS = 50
const EVENT_POLL_MS = 20
const POLL_MS = 100

/** State that the steps of one running scenario share. */
export type Session = {
  readonly client: Client
  readonly companions: Companions
  readonly namespace: string
  readonly trail: AuditTrail
  /** User agent. In scenarios that compare audit events, it contains the namespace. */
  readonly userAgent: string
  readonly variables: Variables
  readonly watches: Map<string, CollectedWatch>
}

export type Answer = {
  readonly status: number
  readonly body: Json
  readonly headers?: IncomingHttpHeaders | undefined
  readonly ended?: boolean
}

/**
 * Returns the response of a step, or undefined if this kind of step has no response. If a request
 * gets no response, the status is 0.
 */
export async function take(step: Step, session: Session): Promise<Answer | undefined> {
  try {
    switch (step.kind) {
      case 'sleep':
        await sleep(step.ms)
        return undefined
      case 'token':
        session.variables[step.id] = tokenOf(step.token, session)
        return undefined
      case 'watch':
        await startWatch(step, session)
        return undefined
      case 'watched':
        return await takeEvents(step, session)
      case 'hooked':
        return await takeCalls(step, session)
      case 'audited':
        return await takeAudited(step, session)
      case 'poll':
        return await poll(step, session)
      case 'request':
        return await ask(step, session)
      default:
        throw new Error(
          `there is no step of the kind ${String(Reflect.get(step, 'kind'))}; steps.ts has all kinds`,
        )
    }
  } catch (error) {
    return {
      status: 0,
      body: `no answer: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
}

async function ask(
  step: AskOptions & BodyOptions & { readonly path: string },
  session: Session,
): Promise<Answer> {
  const { client, variables } = session
  const { headers, certificate } = sentWith(step, session)
  const body = bodyBytes(fill(step.body, variables))
  if (body !== undefined && headers['content-type'] === undefined)
    headers['content-type'] = mediaType(step.type ?? 'application/json')
  const answer = await client.request({
    method: step.method ?? 'GET',
    path: fillTarget(step, variables),
    headers,
    body,
    certificate,
  })
  const raw = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(answer.raw) : answer.raw
  const type = step.json ? 'json' : answer.headers['content-type']
  return {
    status: answer.status,
    headers: answer.headers,
    body: step.text ? raw.toString('utf8') : parseBody(raw, type),
  }
}

const bodyBytes = (body: unknown): string | Buffer | undefined =>
  body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
    ? body
    : JSON.stringify(body)

type SentRequest = {
  readonly headers: Record<string, HeaderValue>
  readonly certificate: HttpRequest['certificate']
}

function sentWith(step: AskOptions, session: Session): SentRequest {
  const { authorization, certificate } = credentialsOf(step.as, session)
  const headers = {
    accept: 'application/json',
    'user-agent': session.userAgent,
    ...(authorization === undefined ? {} : { authorization }),
    ...fillHeaders(step.headers ?? {}, session.variables),
  }
  return { headers, certificate }
}

async function poll(step: PollStep, session: Session): Promise<Answer> {
  const until = Date.now() + step.ms
  for (;;) {
    const answer = await ask(step, session)
    if (step.until(answer.body, answer.status, session.variables)) return answer
    await sleep(POLL_MS)
    if (Date.now() >= until) return answer
  }
}

async function startWatch(step: WatchStep, session: Session): Promise<void> {
  const { client, variables, watches } = session
  const path = fillTarget(step, variables)
  const watch = new CollectedWatch(client, { method: 'GET', path, ...sentWith(step, session) })
  watches.set(step.id, watch)
  await Promise.race([watch.started, sleep(WATCH_START_MAX_MS)])
  await sleep(WATCH_SETTLE_MS)
}

async function takeEvents(step: WatchedStep, { watches, variables }: Session): Promise<Answer> {
  const watch = watches.get(step.id)
  if (watch === undefined) throw new Error(`no WATCH step has the id ${step.id}`)
  const until = Date.now() + step.ms
  while (watch.events.length < step.events && !watch.ended && Date.now() < until)
    await sleep(EVENT_POLL_MS)
  if (step.quiet) await sleep(step.quiet)
  const answer = {
    status: watch.status,
    headers: watch.headers,
    body: watch.events,
    ended: watch.ended,
  }
  watch.stop()
  variables[step.id] = watch.events
  return answer
}

async function takeCalls(step: HookedStep, { companions, namespace }: Session): Promise<Answer> {
  const calls = companions.hooks.callsOf(namespace, step.name)
  const until = Date.now() + step.ms
  while (calls.length < step.calls && Date.now() < until) await sleep(EVENT_POLL_MS)
  return { status: 0, body: calls.splice(0) }
}

async function takeAudited(step: AuditedStep, { trail }: Session): Promise<Answer> {
  const until = Date.now() + step.ms
  while (trail.untaken(step.source).length < step.events && Date.now() < until)
    await sleep(EVENT_POLL_MS)
  await sleep(step.quiet)
  const events = trail.untaken(step.source)
  trail.take(events)
  return { status: 0, body: inOrder(events) }
}
