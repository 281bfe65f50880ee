/** Validates kubeconfigs, with client-go's messages. */
import { type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { parseGoUrl } from '../../api/url.ts'
import { aggregate } from './faults.ts'
import { readTextFile } from './text-file.ts'

const lists = [
  ['clusters', 'NamedCluster', 'Cluster'],
  ['users', 'NamedAuthInfo', 'AuthInfo'],
  ['contexts', 'NamedContext', 'Context'],
] as const

/** Upstream's message contains the whole list, secrets included. */
export function duplicateName(fields: Fields): string | undefined {
  for (const [list, item, type] of lists) {
    const names = itemsOf(fields[list]).map(({ name }) => textOf(name))
    const twice = names.find((name, at) => names.indexOf(name) < at)
    if (twice !== undefined) {
      return `error converting *[]${item} into *map[string]*api.${type}: duplicate name "${twice}" in list`
    }
  }
  return undefined
}

/** The user and the cluster of the current context. */
export type Chosen = {
  readonly userName: string
  readonly user: Fields | undefined
  readonly clusterName: string
  readonly cluster: Fields | undefined
}

const noCluster = 'cluster has no server defined'

export function unusableFault(fields: Fields, chosen: Chosen): string | undefined {
  const { userName, user = {}, clusterName, cluster } = chosen
  const contextName = textOf(fields['current-context'])
  const hasContext = itemsOf(fields['contexts']).some(({ name }) => textOf(name) === contextName)
  const faults = [
    ...(contextName === '' || hasContext ? [] : [`context was not found for specified context: ${contextName}`]),
    ...userFaults(user, userName),
    ...(cluster === undefined ? [noCluster] : clusterFaults(cluster, clusterName)),
  ]
  if (faults.length === 0) return undefined
  const isEmpty = faults.length === 1 && faults[0] === noCluster
  const none = 'no configuration has been provided, try setting KUBERNETES_MASTER environment variable'
  return `invalid configuration: ${isEmpty ? none : aggregate(faults)}`
}

function userFaults(user: Fields, name: string): string[] {
  const faults: string[] = []
  const has = (field: string): boolean => textOf(user[field]) !== ''
  if (has('client-certificate') || has('client-certificate-data')) {
    if (has('client-certificate') && has('client-certificate-data')) {
      faults.push(`client-cert-data and client-cert are both specified for ${name}. client-cert-data will override.`)
    }
    if (has('client-key') && has('client-key-data')) {
      faults.push(`client-key-data and client-key are both specified for ${name}; client-key-data will override`)
    }
    if (!has('client-key') && !has('client-key-data')) {
      const what = 'client-key-data or client-key must be specified'
      faults.push(`${what} for ${name} to use the clientCert authentication method.`)
    }
    faults.push(...unreadable(textOf(user['client-certificate']), `client-cert`, name))
    faults.push(...unreadable(textOf(user['client-key']), 'client-key', name))
  }
  const methods = [...(has('token') ? ['token'] : []), ...(has('username') || has('password') ? ['basicAuth'] : [])]
  if (methods.length > 1) {
    const found = `found [${methods.join(' ')}], only one is allowed`
    faults.push(`more than one authentication method found for ${name}; ${found}`)
  }
  const isAsWhole =
    has('as-uid') || textsOf(user['as-groups']).length > 0 || Object.keys(fieldsOf(user['as-user-extra'])).length > 0
  if (isAsWhole && !has('as')) {
    faults.push(`requesting uid, groups or user-extra for ${name} without impersonating a user`)
  }
  return faults
}

function clusterFaults(cluster: Fields, name: string): string[] {
  const faults: string[] = []
  const [path, proxy] = [textOf(cluster['certificate-authority']), textOf(cluster['proxy-url'])]
  if (textOf(cluster['server']) === '') {
    faults.push(name === '' ? 'default cluster has no server defined' : `no server found for cluster ${quote(name)}`)
  }
  const proxyFault = proxy === '' ? undefined : proxyUrlFault(proxy)
  if (proxyFault !== undefined) {
    faults.push(`invalid 'proxy-url' ${quote(proxy)} for cluster ${quote(name)}: ${proxyFault}`)
  }
  if (path !== '' && textOf(cluster['certificate-authority-data']) !== '') {
    const both = 'certificate-authority-data and certificate-authority are both specified'
    faults.push(`${both} for ${name}. certificate-authority-data will override.`)
  }
  return [...faults, ...unreadable(path, 'certificate-authority', name)]
}

function proxyUrlFault(url: string): string | undefined {
  const parsed = parseGoUrl(url)
  if ('fault' in parsed) return `could not parse: ${url}`
  if (/^(?:https?|socks5)$/.test(parsed.scheme)) return undefined
  return `unsupported scheme ${quote(parsed.scheme)}, must be http, https, or socks5`
}

function unreadable(path: string, what: string, name: string): string[] {
  if (path === '') return []
  const read = readTextFile(path)
  return 'fault' in read ? [`unable to read ${what} ${path} for ${name} due to ${read.fault}`] : []
}
