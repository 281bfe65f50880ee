/**
 * Reads kubeconfig files, which configure connections to webhooks and other servers. As in
 * client-go, the current context is used. Exec credential plugins are not supported.
 */
import { dirname, isAbsolute, join, resolve } from 'node:path'
import {
  entriesOf,
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  textOf,
  textsOf,
} from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { decodePem } from '../../lib/x509/pem.ts'
import { certificateBlocks, isCertificate } from '../../lib/x509/trust-anchors.ts'
import type {
  ClientCertificate,
  ClientConfig,
  Impersonation,
  KubeconfigCredentials,
  KubeconfigUser,
  KubeconfigUsers,
} from '../../net/outbound/kubeconfig.ts'
import { CONFIG_BYTES_MAX, tooLarge } from './config-file.ts'
import { decodeFile, type FileFault } from './decode-file.ts'
import { pairFault } from './key-pair.ts'
import { duplicateName, unusableFault } from './kubeconfig-rules.ts'
import { readProxyUrl, readServerUrl } from './kubeconfig-urls.ts'
import { kubeconfigScheme } from './schemes.ts'
import { readBytes, readTextFile } from './read-file.ts'

/**
 * Reads all users of a kubeconfig. Their credentials are for servers whose addresses are not in the
 * file, so its clusters are ignored. If any user cannot be used, returns an error. kube-apiserver
 * reports this error only when it needs that user.
 */
export function readKubeconfigUsers(path: string): KubeconfigUsers | FileFault {
  const loaded = loadFile(path)
  if ('fault' in loaded) return loaded
  const { fields } = loaded
  const twice = duplicateName(fields)
  if (twice !== undefined) return { fault: `error loading config file "${path}": ${twice}` }
  const folder = dirname(resolve(path))
  const byName = new Map<string, KubeconfigUser>()
  for (const { name, user } of itemsOf(fields['users'])) {
    const userName = textOf(name)
    const placed = withPaths(fieldsOf(user), folder, userFiles) ?? {}
    const identity = identityOf(placed, { path, userName })
    if ('fault' in identity) return { fault: `${path}: user ${quote(userName)}: ${identity.fault}` }
    byName.set(userName, { ...identity, impersonate: impersonationOf(placed) })
  }
  const context = named(fields, 'contexts', 'context', textOf(fields['current-context']))
  return { byName, current: byName.get(textOf(context?.['user'])) ?? null }
}

/**
 * Reads the cluster and the user of a context, which is the current context by default. Error
 * messages are those of client-go. Paths in the file are relative to its directory.
 */
export function readKubeconfig(path: string, contextName?: string): ClientConfig | FileFault {
  const loaded = loadFile(path)
  if ('fault' in loaded) return loaded
  const { fields } = loaded
  const twice = duplicateName(fields)
  if (twice !== undefined) return { fault: `error loading config file "${path}": ${twice}` }
  const name = contextName ?? textOf(fields['current-context'])
  const context = named(fields, 'contexts', 'context', name)
  if (contextName !== undefined && context === undefined)
    return { fault: `context ${quote(contextName)} does not exist in ${path}` }
  const [userName, clusterName] = [textOf(context?.['user']), textOf(context?.['cluster'])]
  const folder = dirname(resolve(path))
  const user = withPaths(named(fields, 'users', 'user', userName), folder, userFiles)
  const cluster = withPaths(named(fields, 'clusters', 'cluster', clusterName), folder, clusterFiles)
  const unusable = unusableFault(fields, { userName, user, clusterName, cluster })
  if (unusable !== undefined) return { fault: unusable }
  return clientOf(cluster ?? {}, user ?? {}, { path, userName })
}

function loadFile(path: string): { readonly fields: Fields } | FileFault {
  const read = readBytes(path)
  if ('fault' in read) {
    // client-go calls stat before it opens the file, so its error contains `stat` instead of
    // `open`.
    const isMissing = read.fault === `open ${path}: no such file or directory`
    const fault = isMissing
      ? read.fault.replace('open', 'stat')
      : `error loading config file "${path}": ${read.fault}`
    return { fault }
  }
  const { bytes } = read
  if (bytes.length === 0) return { fields: {} }
  if (bytes.length > CONFIG_BYTES_MAX)
    return { fault: `error loading config file "${path}": ${tooLarge(bytes)}` }
  const decoded = decodeFile(bytes, kubeconfigScheme, {
    byDefault: { kind: 'Config', apiVersion: 'v1' },
    isYamlOnly: true,
    isSecret: true,
  })
  return 'fault' in decoded
    ? { fault: `error loading config file "${path}": ${decoded.fault}` }
    : decoded
}

function named(fields: Fields, list: string, member: string, name: string): Fields | undefined {
  const found = itemsOf(fields[list]).find((item) => textOf(item['name']) === name)
  return found === undefined ? undefined : fieldsOf(found[member])
}

const userFiles = ['client-certificate', 'client-key', 'tokenFile']
const clusterFiles = ['certificate-authority']

function withPaths(
  fields: Fields | undefined,
  folder: string,
  names: readonly string[],
): Fields | undefined {
  if (fields === undefined) return undefined
  const paths = names.flatMap((name) => {
    const path = textOf(fields[name])
    return path === '' || isAbsolute(path) ? [] : [[name, join(folder, path)] as const]
  })
  return { ...fields, ...Object.fromEntries(paths) }
}

type Origin = { readonly path: string; readonly userName: string }

function clientOf(cluster: Fields, user: Fields, origin: Origin): ClientConfig | FileFault {
  const url = readServerUrl(textOf(cluster['server']), origin.path)
  if ('fault' in url) return url
  const proxy = readProxyUrl(textOf(cluster['proxy-url']), origin.path)
  if ('fault' in proxy) return proxy
  const { server, isTls } = url
  // If the server does not use TLS, client-go neither sends nor validates credentials.
  const identity = isTls ? identityOf(user, origin) : nobody
  if ('fault' in identity) return identity
  const authority = isTls ? authorityOf(cluster) : { text: '' }
  if ('fault' in authority) return authority
  return {
    server,
    tlsServerName: textOf(cluster['tls-server-name']),
    isInsecure: cluster['insecure-skip-tls-verify'] === true,
    certificateAuthority: authority.text,
    proxyUrl: proxy.proxyUrl,
    ...identity,
    impersonate: impersonationOf(user),
  }
}

type Identity = Pick<ClientConfig, 'credentials' | 'clientCertificate'>

const nobody: Identity = { credentials: { kind: 'none' }, clientCertificate: null }

function identityOf(user: Fields, { path, userName }: Origin): Identity | FileFault {
  if (isFields(user['exec'])) {
    const instead = 'give it a token, a tokenFile or a client certificate'
    return { fault: `${path}: exec is not supported for user ${quote(userName)}: ${instead}` }
  }
  const provider = user['auth-provider']
  if (isFields(provider))
    return { fault: `no Auth Provider found for name ${quote(textOf(provider['name']))}` }
  const credentials = credentialsOf(user)
  if ('fault' in credentials) return credentials
  const clientCertificate = certificateOf(user)
  return clientCertificate !== null && 'fault' in clientCertificate
    ? clientCertificate
    : { credentials, clientCertificate }
}

function credentialsOf(user: Fields): KubeconfigCredentials | FileFault {
  const [token, path] = [textOf(user['token']), textOf(user['tokenFile'])]
  const [username, password] = [textOf(user['username']), textOf(user['password'])]
  if (path !== '' && username !== '')
    return { fault: 'username/password or bearer token may be set, but not both' }
  if (token !== '') return { kind: 'token', token, path: path === '' ? null : path }
  if (path !== '') {
    const read = readTextFile(path)
    if ('fault' in read) return read
    if (read.text === '') return { fault: `read empty token from file ${quote(path)}` }
    return { kind: 'token', token: read.text.trim(), path }
  }
  // As in client-go, a password is not sent without a user name.
  return username === '' ? { kind: 'none' } : { kind: 'basic', username, password }
}

function certificateOf(user: Fields): ClientCertificate | FileFault | null {
  const [certificatePath, keyPath] = [
    textOf(user['client-certificate']),
    textOf(user['client-key']),
  ]
  const [certificate, key] = [
    fromBase64(user['client-certificate-data']),
    fromBase64(user['client-key-data']),
  ]
  if (certificatePath === '' && certificate === '') return null
  if (certificate === '' && key === '') return { kind: 'files', certificatePath, keyPath }
  const [ownCertificate, ownKey] = [
    certificate === '' ? readTextFile(certificatePath) : { text: certificate },
    key === '' ? readTextFile(keyPath) : { text: key },
  ]
  if ('fault' in ownCertificate) return ownCertificate
  if ('fault' in ownKey) return ownKey
  const fault = pairFault(ownCertificate.text, ownKey.text)
  return fault === undefined
    ? { kind: 'pem', certificate: ownCertificate.text, key: ownKey.text }
    : { fault }
}

function authorityOf(cluster: Fields): { readonly text: string } | FileFault {
  const data = fromBase64(cluster['certificate-authority-data'])
  const path = textOf(cluster['certificate-authority'])
  if (data === '' && path === '') return { text: '' }
  if (cluster['insecure-skip-tls-verify'] === true) {
    return { fault: 'specifying a root certificates file with the insecure flag is not allowed' }
  }
  const read = data === '' ? readTextFile(path) : { text: data }
  if ('fault' in read || read.text === '') return read
  // As in Go, certificates that cannot be parsed are skipped.
  if (certificateBlocks(read.text).some(isCertificate)) return read
  return { fault: `unable to load root certificates: ${noneIn(read.text)}` }
}

function noneIn(text: string): string {
  if (decodePem(text).length === 0) return 'unable to parse bytes as PEM block'
  if (certificateBlocks(text).length === 0) return 'no valid certificate authority data seen'
  return 'failed to parse certificate: x509: malformed certificate'
}

const fromBase64 = (value: Fields[string]): string =>
  Buffer.from(textOf(value), 'base64').toString('utf8')

function impersonationOf(user: Fields): Impersonation | null {
  const name = textOf(user['as'])
  if (name === '') return null
  const extra = entriesOf(user['as-user-extra']).map(([key]) => [
    key,
    textsOf(fieldsOf(user['as-user-extra'])[key]),
  ])
  return {
    name,
    uid: textOf(user['as-uid']),
    groups: textsOf(user['as-groups']),
    extra: Object.fromEntries(extra),
  }
}
