/**
 * The keys and certificates of the clusters of this process. All of them have the same authority, so that a further cluster costs no
 * new key; a client of one can connect to another, which is no harm among tests. Nothing of it is written to a file.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mastersGroup } from '../api/user.ts'
import { type Certificate, createAuthority, issue } from '../lib/x509/certificates.ts'

export type Credentials = {
  readonly authority: Certificate
  readonly server: Certificate
  /** Of a member of system:masters. */
  readonly admin: Certificate
  /** A bearer token of the same user. */
  readonly token: string
  /** Signs the tokens of service accounts, PEM. */
  readonly accountKeyPem: string
}

const hosts = ['127.0.0.1', '::1', 'localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'] as const

export const adminName = 'kubernetes-admin'

/** On first use; a module has one process. */
const ofProcess: { credentials?: Credentials } = {}

export function sharedCredentials(): Credentials {
  ofProcess.credentials ??= createCredentials(Date.now())
  return ofProcess.credentials
}

function createCredentials(nowMs: number): Credentials {
  const authority = createAuthority('keelson-testing', nowMs)
  return {
    authority,
    server: issue(authority, { commonName: 'kube-apiserver', usage: 'server', hosts, nowMs }),
    admin: issueClient(authority, { name: adminName, groups: [mastersGroup] }, nowMs),
    token: randomBytes(16).toString('hex'),
    accountKeyPem: createKey(),
  }
}

export type TestUser = { readonly name: string; readonly groups?: readonly string[] }

export const issueClient = (authority: Certificate, { name, groups = [] }: TestUser, nowMs: number): Certificate =>
  issue(authority, { commonName: name, organizations: groups, usage: 'client', hosts: [], nowMs })

/** An elliptic curve: an RSA key would take longer than all else. */
function createKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
