/**
 * The keys and certificates of the clusters in this process. All clusters have the same authority
 * and the same certificates, so that a further cluster costs next to nothing and can begin with the
 * objects of another one. A client certificate of one cluster is therefore accepted by the others,
 * which does no harm among tests. Each cluster has its own bearer token and key of service
 * accounts. None of these is written to a file.
 *
 * Forks that clients request over HTTPS are different. A client that may fork may have no other
 * right, and is an administrator of the fork. Such a fork accepts what its origin accepts, but the
 * origin accepts nothing that the fork issues.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mastersGroup } from '../../api/user.ts'
import { type Certificate, createAuthority, issue } from '../../lib/x509/certificates.ts'

export type Credentials = {
  /** The authority of the server's certificate. */
  readonly authority: Certificate
  /** The authority that issues client certificates. */
  readonly clientAuthority: Certificate
  /** The authorities whose client certificates are accepted, in PEM. */
  readonly clientCaPem: string
  readonly server: Certificate
  /** The client certificate of a member of system:masters. */
  readonly admin: Certificate
  /** A bearer token of the same user. */
  readonly token: string
  /** The key that signs the tokens of service accounts, in PEM. */
  readonly accountKeyPem: string
  /** The keys of the origins of a fork, whose tokens are also accepted. */
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

/** The shared credentials, which are created on first use. */
const ofProcess: { shared?: SharedCredentials } = {}

/**
 * Creates the credentials of a new cluster. An ordinary fork has those of its origin, since its
 * objects may refer to tokens of the origin.
 */
export function createCredentials(): Credentials {
  ofProcess.shared ??= createShared()
  return {
    ...ofProcess.shared,
    token: createToken(),
    accountKeyPem: createKey(),
    otherAccountKeyPems: [],
  }
}

/**
 * Creates the credentials of a fork that accepts those of its origin, and gives no rights there.
 */
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
 * The validity of certificates. The clock of a cluster may show any time, and clients use the real
 * time. The end is that of RFC 5280, section 4.1.2.5, for certificates without an expiration date.
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

/** Creates a key on an elliptic curve. An RSA key would take longer than everything else. */
function createKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
