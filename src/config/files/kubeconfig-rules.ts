/** Validates kubeconfigs. Error messages are those of client-go. */
import { aggregate } from '../../api/aggregate.ts'
import { type Fields, fieldsOf, isFields, itemsOf, textOf, textsOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { parseGoUrl, withoutUser } from '../../api/url.ts'
import { readTextFile } from './read-file.ts'

const lists = [
  ['clusters', 'cluster', 'NamedCluster', '*api.Cluster'],
  ['users', 'user', 'NamedAuthInfo', '*api.AuthInfo'],
  ['contexts', 'context', 'NamedContext', '*api.Context'],
] as const

/**
 * Returns an error if a name occurs twice in a list. The message contains only the name.
 * kube-apiserver's message contains the whole list, including secrets.
 */
export function duplicateName(fields: Fields): string | undefined {
  const preferences = duplicateExtension(fieldsOf(fields['preferences']))
  if (preferences !== undefined) return preferences
  for (const [list, member, item, type] of lists) {
    const items = itemsOf(fields[list])
    for (const one of items) {
      const fault = duplicateExtension(fieldsOf(one[member]))
      if (fault !== undefined) return fault
    }
    const fault = duplicateIn(items, item, type)
    if (fault !== undefined) return fault
  }
  return duplicateExtension(fields)
}

const duplicateExtension = ({ extensions }: Fields): string | undefined =>
  duplicateIn(itemsOf(extensions), 'NamedExtension', 'runtime.Object')

function duplicateIn(items: readonly Fields[], item: string, type: string): string | undefined {
  const seen = new Set<string>()
  for (const { name } of items) {
    const text = textOf(name)
    if (seen.has(text))
      return `error converting *[]${item} into *map[string]${type}: duplicate name "${text}" in list`
    seen.add(text)
  }
  return undefined
}

/** The user and the cluster of the current context. */
export type CurrentContext = {
  readonly userName: string
  readonly user: Fields | undefined
  readonly clusterName: string
  readonly cluster: Fields | undefined
}

export const noKubeconfig =
  'invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable'

const noCluster = 'cluster has no server defined'

export function unusableFault(fields: Fields, chosen: CurrentContext): string | undefined {
  const { userName, user = {}, clusterName, cluster } = chosen
  const contextName = textOf(fields['current-context'])
  const hasContext = itemsOf(fields['contexts']).some(({ name }) => textOf(name) === contextName)
  const faults = [
    ...(contextName === '' || hasContext
      ? []
      : [`context was not found for specified context: ${contextName}`]),
    ...userFaults(user, userName),
    ...(cluster === undefined ? [noCluster] : clusterFaults(cluster, clusterName)),
  ]
  if (faults.length === 0) return undefined
  const isEmpty = faults.length === 1 && faults[0] === noCluster
  return isEmpty ? noKubeconfig : `invalid configuration: ${aggregate(faults)}`
}

function userFaults(user: Fields, name: string): string[] {
  const faults: string[] = []
  const has = (field: string): boolean => textOf(user[field]) !== ''
  if (has('client-certificate') || has('client-certificate-data')) {
    if (has('client-certificate') && has('client-certificate-data')) {
      faults.push(
        `client-cert-data and client-cert are both specified for ${name}. client-cert-data will override.`,
      )
    }
    if (has('client-key') && has('client-key-data')) {
      faults.push(
        `client-key-data and client-key are both specified for ${name}; client-key-data will override`,
      )
    }
    if (!has('client-key') && !has('client-key-data')) {
      const what = 'client-key-data or client-key must be specified'
      faults.push(`${what} for ${name} to use the clientCert authentication method.`)
    }
    faults.push(...unreadable(textOf(user['client-certificate']), `client-cert`, name))
    faults.push(...unreadable(textOf(user['client-key']), 'client-key', name))
  }
  faults.push(...execFaults(user, name))
  const methods = [
    ...(has('token') ? ['token'] : []),
    ...(has('username') || has('password') ? ['basicAuth'] : []),
  ]
  if (methods.length > 1) {
    const found = `found [${methods.join(' ')}], only one is allowed`
    faults.push(`more than one authentication method found for ${name}; ${found}`)
  }
  const isAsWhole =
    has('as-uid') ||
    textsOf(user['as-groups']).length > 0 ||
    Object.keys(fieldsOf(user['as-user-extra'])).length > 0
  if (isAsWhole && !has('as')) {
    faults.push(`requesting uid, groups or user-extra for ${name} without impersonating a user`)
  }
  return faults
}

/**
 * Validates the settings of exec plugins. They are validated even if the connection does not use
 * TLS, in which case the plugin would not be called.
 */
function execFaults({ exec, 'auth-provider': provider }: Fields, name: string): string[] {
  if (!isFields(exec)) return []
  const faults: string[] = []
  if (isFields(provider)) {
    faults.push(`authProvider cannot be provided in combination with an exec plugin for ${name}`)
  }
  const need = (what: string): void =>
    void faults.push(`${what} must be specified for ${name} to use exec authentication plugin`)
  if (textOf(exec['command']) === '') need('command')
  if (textOf(exec['apiVersion']) === '') need('apiVersion')
  for (const one of itemsOf(exec['env'])) if (textOf(one['name']) === '') need('env variable name')
  const mode = textOf(exec['interactiveMode'])
  if (mode === '') need('interactiveMode')
  else if (!/^(?:Never|IfAvailable|Always)$/.test(mode)) {
    faults.push(`invalid interactiveMode for ${name}: ${quote(mode)}`)
  }
  return faults
}

function clusterFaults(cluster: Fields, name: string): string[] {
  const faults: string[] = []
  const [path, proxy] = [textOf(cluster['certificate-authority']), textOf(cluster['proxy-url'])]
  if (textOf(cluster['server']) === '') {
    faults.push(
      name === ''
        ? 'default cluster has no server defined'
        : `no server found for cluster ${quote(name)}`,
    )
  }
  const proxyFault = proxy === '' ? undefined : proxyUrlFault(proxy)
  if (proxyFault !== undefined) {
    faults.push(
      `invalid 'proxy-url' ${quote(withoutUser(proxy))} for cluster ${quote(name)}: ${proxyFault}`,
    )
  }
  if (path !== '' && textOf(cluster['certificate-authority-data']) !== '') {
    const both = 'certificate-authority-data and certificate-authority are both specified'
    faults.push(`${both} for ${name}. certificate-authority-data will override.`)
  }
  return [...faults, ...unreadable(path, 'certificate-authority', name)]
}

function proxyUrlFault(url: string): string | undefined {
  const parsed = parseGoUrl(url)
  if ('fault' in parsed) return `could not parse: ${withoutUser(url)}`
  if (/^(?:https?|socks5)$/.test(parsed.scheme)) return undefined
  return `unsupported scheme ${quote(parsed.scheme)}, must be http, https, or socks5`
}

function unreadable(path: string, what: string, name: string): string[] {
  if (path === '') return []
  const read = readTextFile(path)
  return 'fault' in read ? [`unable to read ${what} ${path} for ${name} due to ${read.fault}`] : []
}
