/**
 * The words that scenarios are written in. A scenario is a named list of steps, run in order in a
 * namespace of its own. Paths, queries, headers and bodies may hold $ns, and ${stepId.json.path} to
 * reuse an earlier answer.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { IssueOptions } from '../../support/harness/issued-certificate.ts'
import type { ExtensionAnswer } from './extension.ts'
import type { TokenOptions } from './issuers.ts'
import type { Json, JsonObject } from './json.ts'
import type { Normaliser } from './normalise.ts'

/**
 * What later steps and `until` see: answers by step id, headers by `id@headers`, and $ns, hook,
 * caBundle.
 */
export type Variables = Record<string, unknown>

/**
 * A client certificate; its texts may hold $ns. Further options are those of
 * `test/support/harness/issued-certificate.ts`.
 */
export type CertificateOptions = IssueOptions & {
  /**
   * client: of client-ca.pem; proxy: of proxy-ca.pem; unknown: of another one with the name of the
   * first. Absent: client.
   */
  readonly ca?: 'client' | 'proxy' | 'unknown'
}

/** With a certificate alone no token is sent. */
export type Credentials = {
  readonly token?: TokenOptions | string
  readonly cert?: CertificateOptions
}

/** How a step asks. */
export type AskOptions = {
  readonly query?: Readonly<Record<string, unknown>>
  /** null removes a header that would be sent otherwise. */
  readonly headers?: Readonly<Record<string, unknown>>
  /** 'alice' speaks with alice's token; null with none; { token }, { cert } or both with those. */
  readonly as?: string | null | Credentials
}

/** How a request is sent and its answer is read. */
export type BodyOptions = {
  readonly method?: string
  readonly body?: unknown
  /** The content type, or a short name such as 'merge'. */
  readonly type?: string
  /** Compare the bytes, not the JSON. */
  readonly text?: boolean
  /** Parse as JSON whatever the content type says. */
  readonly json?: boolean
}

/** What of an answer is compared. */
export type CompareOptions = {
  readonly id?: string
  readonly note?: string
  readonly compare?: 'status'
  /** Header names; 'etag?' compares presence only. */
  readonly compareHeaders?: readonly string[]
  /** Looks at all the headers and returns what to compare, such as whether an ETag came. */
  readonly pickHeaders?: (headers: IncomingHttpHeaders) => JsonObject
  /** Paths to leave out: 'metadata.managedFields', 'items.*.metadata.uid'. */
  readonly ignore?: readonly string[]
  readonly pick?: (body: Json, raw: Json, normaliser: Normaliser) => Json
  /** Compare the versions of lists and bookmarks too. */
  readonly listRv?: boolean
}

export type RequestStep = AskOptions &
  BodyOptions &
  CompareOptions & { readonly kind: 'request'; readonly method: string; readonly path: string }

export type PollStep = AskOptions &
  BodyOptions &
  CompareOptions & {
    readonly kind: 'poll'
    readonly path: string
    readonly until: (body: Json, status: number, variables: Variables) => boolean
    readonly ms: number
  }

export type WatchStep = AskOptions &
  CompareOptions & { readonly kind: 'watch'; readonly id: string; readonly path: string }

export type WatchedStep = CompareOptions & {
  readonly kind: 'watched'
  readonly id: string
  readonly events: number
  readonly ms: number
  /** Waits this many ms more, to see that nothing else comes. */
  readonly quiet?: number
  /** Compare whether the server had closed the watch. */
  readonly end?: boolean
}

export type HookedStep = CompareOptions & {
  readonly kind: 'hooked'
  readonly name: string
  readonly calls: number
  readonly ms: number
}

export type AuditedStep = CompareOptions & {
  readonly kind: 'audited'
  readonly events: number
  readonly ms: number
  /** Waits this many ms more, to see that nothing else comes. */
  readonly quiet: number
  readonly source: 'log' | 'webhook'
}

export type TokenStep = {
  readonly kind: 'token'
  readonly id: string
  readonly token: TokenOptions
}

export type SleepStep = { readonly kind: 'sleep'; readonly ms: number }

export type Step =
  | RequestStep
  | PollStep
  | WatchStep
  | WatchedStep
  | HookedStep
  | AuditedStep
  | TokenStep
  | SleepStep

/** A webhook's answer to a review: what hooks.ts makes of it is described there. */
export type HookAnswer = (review: Json, callCount: number) => unknown

export type ScenarioOptions = {
  readonly section?: string
  readonly about?: string
  /** false: no namespace is made. */
  readonly namespace?: boolean
  /** Paths to delete at the end. */
  readonly cleanup?: readonly string[]
  /** Webhooks that the runner serves, by name. */
  readonly hooks?: Readonly<Record<string, HookAnswer>>
  /** What its extension API server answers: extension.ts. */
  readonly extension?: ExtensionAnswer
  /** How its server is set up: a name of set-ups.ts. */
  readonly needs?: string
  /** The times and the order of managedFields entries count. */
  readonly times?: boolean
}

export type Scenario = ScenarioOptions & { readonly id: string; readonly steps: readonly Step[] }

export const scenario = (id: string, about: ScenarioOptions, steps: readonly Step[]): Scenario => ({
  id,
  ...about,
  steps,
})

type RequestOptions = AskOptions & BodyOptions & CompareOptions

export const GET = (path: string, options?: RequestOptions): RequestStep =>
  request('GET', path, options)

export const POST = (path: string, body?: unknown, options?: RequestOptions): RequestStep =>
  request('POST', path, { body, ...options })

export const PUT = (path: string, body?: unknown, options?: RequestOptions): RequestStep =>
  request('PUT', path, { body, ...options })

export const PATCH = (
  path: string,
  type: string,
  body?: unknown,
  options?: RequestOptions,
): RequestStep => request('PATCH', path, { body, type, ...options })

export const DELETE = (path: string, body?: unknown, options?: RequestOptions): RequestStep =>
  request('DELETE', path, { body, ...options })

export const APPLY = (
  path: string,
  manager: string,
  body: unknown,
  { force, query, ...options }: RequestOptions & { readonly force?: boolean } = {},
): RequestStep =>
  request('PATCH', path, {
    type: 'application/apply-patch+yaml',
    body,
    query: { fieldManager: manager, ...(force ? { force: 'true' } : {}), ...query },
    ...options,
  })

/**
 * Opens a watch that collects in the background until WATCHED closes it after `events` events or
 * `ms`.
 */
export const WATCH = (
  id: string,
  path: string,
  options: AskOptions & CompareOptions = {},
): WatchStep => ({
  kind: 'watch',
  id,
  path,
  ...options,
})

export const WATCHED = (id: string, options: Partial<WatchedStep> = {}): WatchedStep => ({
  kind: 'watched',
  id,
  events: 1,
  ms: 5000,
  ...options,
})

/** Repeats a GET until `until(body, status)` holds; recorded once it does. */
export const POLL = (
  path: string,
  until: PollStep['until'],
  options: Partial<PollStep> = {},
): PollStep => ({
  kind: 'poll',
  path,
  until,
  ms: 15_000,
  ...options,
})

/**
 * Records the calls that the hook of that name has received since the last HOOKED, once there are
 * `calls` of them.
 */
export const HOOKED = (name: string, options: Partial<HookedStep> = {}): HookedStep => ({
  kind: 'hooked',
  name,
  calls: 1,
  ms: 5000,
  ...options,
})

/**
 * Records the audit events of the scenario since the last AUDITED, once there are `events` of them:
 * in the order of the requests, the stages of each in their order. Its set-up has
 * `--audit-log-path=${dir}/audit.log`, or the kubeconfig of the webhook `audit` (`source:
 * 'webhook'`).
 */
export const AUDITED = (events: number, options: Partial<AuditedStep> = {}): AuditedStep => ({
  kind: 'audited',
  events,
  ms: 5000,
  quiet: 100,
  source: 'log',
  ...options,
})

/** Makes a token that later steps use as `${id}`, such as in the body of a TokenReview. */
export const TOKEN = (id: string, token: TokenOptions): TokenStep => ({ kind: 'token', id, token })

export const SLEEP = (ms: number): SleepStep => ({ kind: 'sleep', ms })

const request = (method: string, path: string, options: RequestOptions = {}): RequestStep => ({
  kind: 'request',
  path,
  ...options,
  method: options.method ?? method,
})
