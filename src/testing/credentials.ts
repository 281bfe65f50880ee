/**
 * The keys and certificates of the clusters of this process. All of them have the same authority and the same certificates, so that a further
 * cluster costs next to nothing and can begin with the objects of another; who has a client certificate of one can connect to the others, which is no
 * harm among tests. The bearer token and the key of service accounts are each cluster's own. Nothing of it is written to a file.
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

type SharedCredentials = Pick<Credentials, 'authority' | 'server' | 'admin'>

/** On first use; a module has one process. */
const ofProcess: { shared?: SharedCredentials } = {}

/** Of a new cluster. A fork has those of its origin, whose tokens its objects may name. */
export function createCredentials(): Credentials {
  ofProcess.shared ??= createShared()
  return { ...ofProcess.shared, token: randomBytes(16).toString('hex'), accountKeyPem: createKey() }
}

function createShared(): SharedCredentials {
  const authority = createAuthority('keelson-testing', always)
  return {
    authority,
    server: issue(authority, { commonName: 'kube-apiserver', usage: 'server', hosts, ...always }),
    admin: issueClient(authority, { name: adminName, groups: [mastersGroup] }),
  }
}

/** The clock of a cluster may show any time, and clients go by the real one. The end is that of RFC 5280, 4.1.2.5, for what has none. */
const always = { fromMs: Date.UTC(1970), toMs: Date.UTC(9999, 11, 31, 23, 59, 59) } as const

export type TestUser = { readonly name: string; readonly groups?: readonly string[] }

export const issueClient = (authority: Certificate, { name, groups = [] }: TestUser): Certificate =>
  issue(authority, { commonName: name, organizations: groups, usage: 'client', hosts: [], ...always })

/** An elliptic curve: an RSA key would take longer than all else. */
function createKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
