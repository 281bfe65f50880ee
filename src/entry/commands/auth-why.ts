/**
 * `keelson auth why`: queries a server for the reasons why a user is or is not allowed to do
 * something. Its arguments are like those of `kubectl auth can-i`.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { fieldsOf, textsOf } from '../../api/object.ts'
import { anonymousUser, authenticatedGroup, unauthenticatedGroup } from '../../api/user.ts'
import { accountGroups, parseAccountUserName } from '../../api/service-account.ts'
import { readKubeconfig } from '../../config/files/kubeconfig.ts'
import { messageOf } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/text/suggest.ts'
import type { ClientConfig } from '../../net/outbound/kubeconfig.ts'
import { KubeconfigClient } from '../../net/outbound/kubeconfig-client.ts'
import { whyFlags } from './why-flags.ts'
import { printable, printWhy } from './why-tree.ts'

/**
 * Maximum time for the request. The server may have to call an authorization webhook several times.
 */
const TIMEOUT_MS = 60_000

export class WhyUsageError extends Error {}

export type AuthWhyOptions = {
  /** The path of the kubeconfig that is used if no flag names a kubeconfig. */
  readonly defaultKubeconfig: string
}

export type Explanation = {
  readonly text: string
  readonly isAllowed: boolean
  /** Warnings about probable mistakes in the query, such as an unknown resource. */
  readonly warnings: readonly string[]
}

/**
 * Queries the server, and returns the text to print. Throws a WhyUsageError for invalid flags, and
 * otherwise an Error that says what to do.
 */
export async function authWhy(
  args: readonly string[],
  { defaultKubeconfig }: AuthWhyOptions,
): Promise<Explanation> {
  const { values, positionals } = parseWhy(args)
  const query = queryOf(values, positionals)
  const config = configOf(values, defaultKubeconfig)
  const server = `${config.server.replace(/\/+$/, '')}/debug/authorization?${query.toString()}`
  using client = new KubeconfigClient({ ...config, server }, { timeoutMs: TIMEOUT_MS })
  const text = await client.get()
  const answer = fieldsOf(JSON.parse(text))
  return {
    text: values.output === 'json' ? `${text.trimEnd()}\n` : printWhy(answer),
    isAllowed: answer['allowed'] === true,
    warnings: textsOf(answer['warnings']).map(printable),
  }
}

type Flags = ReturnType<typeof parseWhy>['values']

function parseWhy(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: whyFlags,
    })
  } catch (error) {
    throw new WhyUsageError(describeFault(messageOf(error)))
  }
}

/** Rewrites an error message of Node's `parseArgs` in the words of Keelson. */
function describeFault(message: string): string {
  const [, flag, name = ''] = /^[^']*'(?:-\w, )?(--?([\w-]+))/.exec(message) ?? []
  if (flag === undefined) return message
  if (message.includes('does not take an argument')) return `${flag} does not take a value`
  if (!message.startsWith('Unknown option')) return `${flag} needs a value: ${flag}=…`
  const question = didYouMean(name, Object.keys(whyFlags), (known) => `--${known}`)
  return `unknown flag: ${flag}; ${question ?? 'keelson auth why --help lists the flags'}`
}

function queryOf(values: Flags, positionals: readonly string[]): URLSearchParams {
  const [verb, what, ...rest] = positionals
  if (values.as === undefined || values.as === '')
    throw new WhyUsageError('--as is required, for example --as=alice')
  if (verb === undefined || what === undefined || rest.length > 0) {
    throw new WhyUsageError(
      'a verb and a resource or a path are required, for example: keelson auth why --as alice get pods',
    )
  }
  if (values.output !== undefined && values.output !== 'json')
    throw new WhyUsageError('--output must be json')
  if (values['all-namespaces'] === true && values.namespace !== undefined)
    throw new WhyUsageError('--all-namespaces and --namespace exclude each other')
  const query = new URLSearchParams({ user: values.as, verb })
  for (const group of groupsOf(values.as, values['as-group'] ?? [])) query.append('group', group)
  for (const pair of values['as-extra'] ?? []) query.append('extra', pair)
  setIf(query, 'uid', values['as-uid'])
  if (what.startsWith('/')) {
    query.set('path', what)
    return query
  }
  const [type = '', ...name] = what.split('/')
  const [plural = '', ...group] = type.split('.')
  query.set('resource', plural)
  setIf(query, 'apiGroup', group.length === 0 ? undefined : group.join('.'))
  setIf(query, 'name', name.length === 0 ? undefined : name.join('/'))
  setIf(query, 'namespace', values.namespace)
  setIf(query, 'subresource', values.subresource)
  return query
}

function setIf(query: URLSearchParams, name: string, value: string | undefined): void {
  if (value !== undefined) query.set(name, value)
}

/** Adds the groups that a server would add if a client impersonated the user. */
function groupsOf(user: string, groups: readonly string[]): readonly string[] {
  const account = parseAccountUserName(user)
  const own = account === undefined || groups.length > 0 ? groups : accountGroups(account.namespace)
  if (own.includes(unauthenticatedGroup) || own.includes(authenticatedGroup)) return own
  return [...own, user === anonymousUser.name ? unauthenticatedGroup : authenticatedGroup]
}

function configOf(values: Flags, defaultKubeconfig: string): ClientConfig {
  const {
    server,
    token,
    'certificate-authority': authority,
    'insecure-skip-tls-verify': isInsecure = false,
  } = values
  if (server === undefined) {
    const read = readKubeconfig(values.kubeconfig ?? defaultKubeconfig, values.context)
    if ('fault' in read)
      throw new Error(`${read.fault}: name a kubeconfig with --kubeconfig or KUBECONFIG`)
    return read
  }
  if (URL.parse(server) === null)
    throw new WhyUsageError(`--server ${server} is not a URL such as https://127.0.0.1:6443`)
  return {
    server,
    tlsServerName: '',
    isInsecure,
    certificateAuthority: authority === undefined ? '' : readFileSync(authority, 'utf8'),
    proxyUrl: '',
    credentials: token === undefined ? { kind: 'none' } : { kind: 'token', token, path: null },
    clientCertificate: null,
    impersonate: null,
  }
}
