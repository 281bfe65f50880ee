/**
 * Test cases for kubeconfig files, which are passed with
 * `--authentication-token-webhook-config-file`.
 */
import type { Json } from '../../../src/api/object.ts'
import { casesOf, type ConfigCase, type FileTable, formCases, yamlOf } from './case.ts'

type Fields = { readonly [field: string]: Json }

const server = 'https://127.0.0.1:9/path'
const rest = {
  clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
  users: [{ name: 'u', user: { token: 'secret' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
}

const file = (fields: Fields): string =>
  yamlOf({ apiVersion: 'v1', kind: 'Config', ...rest, ...fields })
const cluster = (fields: Fields): string =>
  file({ clusters: [{ name: 'c', cluster: { server, ...fields } }] })
const user = (fields: Fields): string => file({ users: [{ name: 'u', user: fields }] })
const plain = (fields: Fields): string =>
  file({
    clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:9' } }],
    users: [{ name: 'u', user: fields }],
  })
const exec = {
  apiVersion: 'client.authentication.k8s.io/v1',
  command: '/bin/true',
  interactiveMode: 'Never',
}
const extension = { name: 'e', extension: { a: 'b' } }
const certificate = { 'client-certificate': '$DIR/client.pem', 'client-key': '$DIR/client.key' }

const table: FileTable = {
  'context/none': file({ 'current-context': '' }),
  'context/missing': file({ 'current-context': 'y' }),
  'context/without-user': file({ contexts: [{ name: 'x', context: { cluster: 'c' } }] }),
  'context/user-missing': file({ contexts: [{ name: 'x', context: { cluster: 'c', user: 'v' } }] }),
  'context/cluster-missing': file({
    contexts: [{ name: 'x', context: { cluster: 'd', user: 'u' } }],
  }),
  'context/namespace': file({
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'A' } }],
  }),
  'cluster/no-server': file({ clusters: [{ name: 'c', cluster: {} }] }),
  'cluster/no-server-but-more': file({
    clusters: [{ name: 'c', cluster: { 'tls-server-name': 'a' } }],
  }),
  'cluster/server-http': cluster({ server: 'http://127.0.0.1:9' }),
  'cluster/server-http-with-token-file-missing': plain({ tokenFile: '$DIR/nothing' }),
  'cluster/server-http-with-exec': plain({ exec }),
  'cluster/server-http-with-exec-unchecked': plain({ exec: {} }),
  'cluster/server-http-with-auth-provider': plain({
    'auth-provider': { name: 'example', config: {} },
  }),
  'cluster/server-http-in-capitals': cluster({
    server: 'HTTP://127.0.0.1:9',
    'certificate-authority': '$DIR/text',
  }),
  'cluster/server-https-in-capitals': cluster({
    server: 'HTTPS://127.0.0.1:9',
    'certificate-authority': '$DIR/text',
  }),
  'cluster/server-ftp': cluster({ server: 'ftp://127.0.0.1:9' }),
  'cluster/server-query': cluster({ server: 'https://127.0.0.1:9/a?b=c' }),
  'cluster/server-host-and-query-with-slash': cluster({ server: 'h?x=/y' }),
  'cluster/server-host-and-fragment-with-slash': cluster({ server: 'h#/y' }),
  'cluster/server-port-too-large': cluster({ server: 'https://someone:secret@127.0.0.1:99999' }),
  'cluster/server-no-host-but-port': cluster({ server: 'https://:9' }),
  'cluster/server-unreadable-with-password': cluster({ server: 'https://someone:secret@a b' }),
  'cluster/server-host-and-path-with-password': cluster({ server: 'someone:secret@127.0.0.1:9/a' }),
  'cluster/server-blank-in-host': cluster({ server: 'https://a b' }),
  'cluster/server-no-host': cluster({ server: 'https://' }),
  'cluster/server-host-and-port': cluster({ server: '127.0.0.1:9' }),
  'cluster/server-host-and-path': cluster({ server: '127.0.0.1:9/a' }),
  'cluster/authority': cluster({ 'certificate-authority': '$DIR/ca.pem' }),
  'cluster/authority-relative': cluster({ 'certificate-authority': 'nothing.pem' }),
  'cluster/authority-missing': cluster({ 'certificate-authority': '$DIR/nothing' }),
  'cluster/authority-text': cluster({ 'certificate-authority': '$DIR/text' }),
  'cluster/authority-data': cluster({ 'certificate-authority-data': '$CA64' }),
  'cluster/authority-data-text': cluster({ 'certificate-authority-data': 'dGV4dA==' }),
  'cluster/authority-data-no-base64': cluster({ 'certificate-authority-data': '*' }),
  'cluster/authority-with-other-blocks': cluster({ 'certificate-authority': '$DIR/ca-mixed.pem' }),
  'cluster/authority-without-base64': cluster({ 'certificate-authority': '$DIR/ca-base64.pem' }),
  'cluster/authority-no-certificate': cluster({ 'certificate-authority': '$DIR/client.key' }),
  'cluster/authority-empty': cluster({ 'certificate-authority': '$DIR/empty' }),
  'cluster/authority-and-data': cluster({
    'certificate-authority': '$DIR/ca.pem',
    'certificate-authority-data': '$CA64',
  }),
  'cluster/authority-and-insecure': cluster({
    'certificate-authority': '$DIR/ca.pem',
    'insecure-skip-tls-verify': true,
  }),
  'cluster/proxy': cluster({ 'proxy-url': 'socks5://127.0.0.1:1' }),
  'cluster/proxy-in-capitals': cluster({ 'proxy-url': 'HTTP://127.0.0.1:1' }),
  'cluster/proxy-socks-in-capitals': cluster({ 'proxy-url': 'SOCKS5://127.0.0.1:1' }),
  'cluster/proxy-no-host': cluster({ 'proxy-url': 'http://' }),
  'cluster/proxy-no-host-but-path': cluster({ 'proxy-url': 'http:///a' }),
  'cluster/proxy-opaque': cluster({ 'proxy-url': 'http:a' }),
  'cluster/proxy-port-too-large': cluster({ 'proxy-url': 'http://someone:secret@127.0.0.1:99999' }),
  'cluster/proxy-ftp': cluster({ 'proxy-url': 'ftp://a' }),
  'cluster/proxy-ftp-with-password': cluster({ 'proxy-url': 'ftp://someone:secret@a' }),
  'cluster/proxy-unreadable-with-password': cluster({ 'proxy-url': 'http://someone:secret@a b' }),
  'cluster/proxy-unreadable': cluster({ 'proxy-url': 'http://a b' }),
  'cluster/two-of-a-name': file({
    clusters: ['a', 'b'].map(() => ({ name: 'c', cluster: { server } })),
  }),
  'context/two-of-a-name': file({
    contexts: ['a', 'b'].map(() => ({ name: 'x', context: { cluster: 'c', user: 'u' } })),
  }),
  'user/nobody': user({}),
  'user/token-file': user({ tokenFile: '$DIR/token' }),
  'user/token-file-missing': user({ tokenFile: '$DIR/nothing' }),
  'user/token-file-empty': user({ tokenFile: '$DIR/empty' }),
  'user/token-file-blank': user({ tokenFile: '$DIR/blank' }),
  'user/token-and-empty-file': user({ token: 'a', tokenFile: '$DIR/empty' }),
  'user/password-alone': user({ password: 'b' }),
  'user/password-alone-and-token-file': user({ password: 'b', tokenFile: '$DIR/token' }),
  'user/token-and-missing-file': user({ token: 'a', tokenFile: '$DIR/nothing' }),
  'user/password': user({ username: 'a', password: 'b' }),
  'user/token-and-password': user({ token: 'a', username: 'b', password: 'c' }),
  'user/token-file-and-password': user({ tokenFile: '$DIR/token', username: 'b' }),
  'user/certificate': user(certificate),
  'user/certificate-without-key': user({ 'client-certificate': '$DIR/client.pem' }),
  'user/certificate-missing': user({ ...certificate, 'client-certificate': '$DIR/nothing' }),
  'user/key-missing': user({ ...certificate, 'client-key': '$DIR/nothing' }),
  'user/key-alone': user({ 'client-key': '$DIR/nothing' }),
  'user/certificate-twice': user({
    ...certificate,
    'client-certificate-data': '$CERT64',
    'client-key-data': '$KEY64',
  }),
  'user/certificate-data': user({
    'client-certificate-data': '$CERT64',
    'client-key-data': '$KEY64',
  }),
  'user/certificate-data-text': user({
    'client-certificate-data': 'dGV4dA==',
    'client-key-data': '$KEY64',
  }),
  'user/key-data-text': user({
    'client-certificate-data': '$CERT64',
    'client-key-data': 'dGV4dA==',
  }),
  'user/key-data-of-another': user({
    'client-certificate-data': '$CERT64',
    'client-key-data': '$OTHER64',
  }),
  'user/certificate-file-and-key-data': user({
    'client-certificate': '$DIR/client.pem',
    'client-key-data': '$KEY64',
  }),
  'user/certificate-files-text': user({
    'client-certificate': '$DIR/text',
    'client-key': '$DIR/text',
  }),
  'user/exec': user({ exec }),
  'user/exec-unchecked': user({ exec: {} }),
  'user/auth-provider': user({ 'auth-provider': { name: 'example', config: {} } }),
  'user/impersonate': user({
    token: 'a',
    as: 'b',
    'as-groups': ['c'],
    'as-user-extra': { d: ['e'] },
    'as-uid': 'f',
  }),
  'user/impersonate-empty-extra-alone': user({ token: 'a', 'as-user-extra': {} }),
  'user/impersonate-groups-alone': user({ token: 'a', 'as-groups': ['c'] }),
  'extensions/one': file({ extensions: [extension] }),
  'extensions/two-of-a-name': file({ extensions: [extension, extension] }),
  'extensions/two-of-a-name-in-preferences': file({
    preferences: { extensions: [extension, extension] },
  }),
  'extensions/two-of-a-name-in-cluster': cluster({ extensions: [extension, extension] }),
  'extensions/two-of-a-name-in-user': user({ token: 'secret', extensions: [extension, extension] }),
  'extensions/two-of-a-name-in-context': file({
    contexts: [
      { name: 'x', context: { cluster: 'c', user: 'u', extensions: [extension, extension] } },
    ],
  }),
  'extensions/two-of-a-name-in-everything': file({
    preferences: { extensions: [extension, extension] },
    extensions: [extension, extension],
    clusters: ['a', 'b'].map(() => ({
      name: 'c',
      cluster: { server, extensions: [extension, extension] },
    })),
  }),
  'extensions/two-of-a-name-and-two-clusters': file({
    extensions: [extension, extension],
    clusters: ['a', 'b'].map(() => ({ name: 'c', cluster: { server } })),
  }),
  'unknown/fields-are-passed-over': file({
    surprise: 1,
    users: [{ name: 'u', user: { token: 'a', colour: 'red' } }],
  }),
  'wrong/clusters': file({ clusters: {} }),
  'wrong/token': user({ token: 5 }),
}

export const kubeconfigCases: readonly ConfigCase[] = casesOf(
  'kubeconfig',
  { 'authentication-token-webhook-config-file': '$FILE' },
  {
    ...formCases(
      'v1',
      'Config',
      Object.entries(rest)
        .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
        .join(''),
    ),
    ...table,
  },
)
