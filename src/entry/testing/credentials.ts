/**
 * The keys and certificates of the clusters of this process. All of them have the same authority
 * and the same certificates, so that a further cluster costs next to nothing and can begin with the
 * objects of another; who has a client certificate of one can connect to the others, which is no
 * harm among tests. The bearer token and the key of service accounts are each cluster's own.
 * Nothing of it is written to a file.
 *
 * Forks that clients ask for over HTTPS are different: a client that may fork may have no other
 * right, and is an administrator of the fork. Such a fork accepts what its origin accepts, but the
 * origin accepts nothing that the fork issues.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mastersGroup } from '../../api/user.ts'
import { type Certificate, createAuthority, issue } from '../../lib/x509/certificates.ts'

export type Credentials = {
  /** Of the server's certificate. */
  readonly authority: Certificate
  /** Issues client certificates. */
  readonly clientAuthority: Certificate
  /** The authorities of client certificates that are accepted, PEM. */
  readonly clientCaPem: string
  readonly server: Certificate
  /** Of a member of system:masters. */
  readonly admin: Certificate
  /** A bearer token of the same user. */
  readonly token: string
  /** Signs the tokens of service accounts, PEM. */
  readonly accountKeyPem: string
  /** Of an origin, whose tokens are accepted, too. */
  readonly otherAccountKeyPems: readonly string[]
}

const hosts = [
  '127.0.0.1',
  '::1',
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
] as const

export const adminName = 'kubernetes-admin'

type SharedCredentials = Pick<
  Credentials,
  'authority' | 'clientAuthority' | 'clientCaPem' | 'server' | 'admin'
>

/** On first use; a module has one process. */
const ofProcess: { shared?: SharedCredentials } = {}

/** Of a new cluster. A fork has those of its origin, whose tokens its objects may name. */
export function createCredentials(): Credentials {
  ofProcess.shared ??= createShared()
  return {
    ...ofProcess.shared,
    token: createToken(),
    accountKeyPem: createKey(),
    otherAccountKeyPems: [],
  }
}

/** Of a fork that accepts the credentials of its origin, and gives no rights there. */
export function createForkCredentials(origin: Credentials): Credentials {
  const clientAuthority = createAuthority('keelson-testing-fork', always)
  return {
    ...origin,
    clientAuthority,
    clientCaPem: `${clientAuthority.certificatePem}\n${origin.clientCaPem}`,
    admin: issueAdmin(clientAuthority),
    token: createToken(),
    accountKeyPem: createKey(),
    otherAccountKeyPems: [origin.accountKeyPem, ...origin.otherAccountKeyPems],
  }
}

function createShared(): SharedCredentials {
  const authority = createAuthority('keelson-testing', always)
  return {
    authority,
    clientAuthority: authority,
    clientCaPem: authority.certificatePem,
    server: issue(authority, { commonName: 'kube-apiserver', usage: 'server', hosts, ...always }),
    admin: issueAdmin(authority),
  }
}

const issueAdmin = (authority: Certificate): Certificate =>
  issueClient(authority, { name: adminName, groups: [mastersGroup] })

const createToken = (): string => randomBytes(16).toString('hex')

/**
 * The clock of a cluster may show any time, and clients go by the real one. The end is that of RFC
 * 5280, 4.1.2.5, for what has none.
 */
const always = { fromMs: Date.UTC(1970), toMs: Date.UTC(9999, 11, 31, 23, 59, 59) } as const

export type TestUser = { readonly name: string; readonly groups?: readonly string[] }

export const issueClient = (authority: Certificate, { name, groups = [] }: TestUser): Certificate =>
  issue(authority, {
    commonName: name,
    organizations: groups,
    usage: 'client',
    hosts: [],
    ...always,
  })

/** An elliptic curve: an RSA key would take longer than all else. */
function createKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
