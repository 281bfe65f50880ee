/**
 * Building blocks of scenarios. A scenario is a named list of steps that run in order in its own
 * namespace. Paths, queries, headers and bodies can contain $ns, and ${stepId.json.path} to refer
 * to an earlier response.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { IssueOptions } from '../../support/harness/issued-certificate.ts'
import type { ExtensionAnswer } from './extension.ts'
import type { TokenOptions } from './issuers.ts'
import type { Json, JsonObject } from './json.ts'
import type { Normaliser } from './normalise.ts'

/**
 * Variables that later steps and `until` can use. They are the response of each step by its ID, its
 * headers as `id@headers`, and $ns, hook and caBundle.
 */
export type Variables = Record<string, unknown>

/**
 * A client certificate. Its strings can contain $ns. test/support/harness/issued-certificate.ts
 * defines further options.
 */
export type CertificateOptions = IssueOptions & {
  /**
   * CA that issues the certificate: `client` is client-ca.pem (the default), `proxy` is
   * proxy-ca.pem, and `unknown` is another CA with the same name as client-ca.pem.
   */
  readonly ca?: 'client' | 'proxy' | 'unknown'
}

/** Credentials of a step. If it has a certificate but no token, only the certificate is sent. */
export type Credentials = {
  readonly token?: TokenOptions | string
  readonly cert?: CertificateOptions
}

/** Options of a request. */
export type AskOptions = {
  readonly query?: Readonly<Record<string, unknown>>
  /** Request headers. Null removes a header that would otherwise be sent. */
  readonly headers?: Readonly<Record<string, unknown>>
  /**
   * Credentials. The string 'alice' stands for alice's token. With null, no token is sent. An
   * object contains a token, a certificate or both.
   */
  readonly as?: string | null | Credentials
}

/** Options that determine how a request is sent and how its response is read. */
export type BodyOptions = {
  readonly method?: string
  readonly body?: unknown
  /** The content type of the body, or a short name such as 'merge'. */
  readonly type?: string
  /** Whether to compare the body as text instead of as a JSON value. */
  readonly text?: boolean
  /** Whether to parse the body as JSON regardless of its content type. */
  readonly json?: boolean
}

/** Options that determine which parts of a response are compared. */
export type CompareOptions = {
  readonly id?: string
  readonly note?: string
  readonly compare?: 'status'
  /**
   * Names of the headers to compare. If a name ends with a question mark, such as 'etag?', only the
   * presence of the header is compared.
   */
  readonly compareHeaders?: readonly string[]
  /**
   * Returns the values to compare, computed from all headers. For example, one of them can state
   * whether an ETag is present.
   */
  readonly pickHeaders?: (headers: IncomingHttpHeaders) => JsonObject
  /** Paths to ignore, such as 'metadata.managedFields' or 'items.*.metadata.uid'. */
  readonly ignore?: readonly string[]
  readonly pick?: (body: Json, raw: Json, normaliser: Normaliser) => Json
  /** Whether to also compare resourceVersions of lists and bookmarks. */
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
  /**
   * Time in milliseconds to wait after the last expected event, to check that no other event
   * arrives.
   */
  readonly quiet?: number
  /** Whether to also compare whether the server has closed the watch. */
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
  /**
   * Time in milliseconds to wait after the last expected event, to check that no other event
   * arrives.
   */
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

/** A webhook's response to a review. hooks.ts describes how it is interpreted. */
export type HookAnswer = (review: Json, callCount: number) => unknown

export type ScenarioOptions = {
  readonly section?: string
  readonly about?: string
  /** Whether a namespace is created (default true). */
  readonly namespace?: boolean
  /** Paths of objects that are deleted at the end of the scenario. */
  readonly cleanup?: readonly string[]
  /** Webhooks that the runner serves, by name. */
  readonly hooks?: Readonly<Record<string, HookAnswer>>
  /** Responses of the extension API server for this scenario (see extension.ts). */
  readonly extension?: ExtensionAnswer
  /** Name of the set-up of the server that this scenario needs (see set-ups.ts). */
  readonly needs?: string
  /** Whether to compare the times and the order of managedFields entries. */
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
 * Opens a watch that collects events in the background. A later step, created with WATCHED, closes
 * the watch when `events` events have arrived, or after `ms` milliseconds.
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

/** Repeats a GET until `until(body, status)` returns true. Only the last response is recorded. */
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
 * A step that records the calls of the webhook `name` since the last such step. Waits until the
 * webhook has received the number of calls in `calls`.
 */
export const HOOKED = (name: string, options: Partial<HookedStep> = {}): HookedStep => ({
  kind: 'hooked',
  name,
  calls: 1,
  ms: 5000,
  ...options,
})

/**
 * A step that records the audit events of the scenario since the last such step. Waits until there
 * are as many events as `events` says. The events are sorted by request, and the events of one
 * request keep their order. The set-up must have the flag `--audit-log-path=${dir}/audit.log`, or,
 * with `source: 'webhook'`, the kubeconfig of the webhook `audit`.
 */
export const AUDITED = (events: number, options: Partial<AuditedStep> = {}): AuditedStep => ({
  kind: 'audited',
  events,
  ms: 5000,
  quiet: 100,
  source: 'log',
  ...options,
})

/**
 * Creates a token for later steps, which refer to it as `${id}`, for example in the body of a
 * TokenReview.
 */
export const TOKEN = (id: string, token: TokenOptions): TokenStep => ({ kind: 'token', id, token })

export const SLEEP = (ms: number): SleepStep => ({ kind: 'sleep', ms })

const request = (method: string, path: string, options: RequestOptions = {}): RequestStep => ({
  kind: 'request',
  path,
  ...options,
  method: options.method ?? method,
})
