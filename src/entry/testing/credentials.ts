/**
 * The keys and certificates of the clusters in this process. All clusters share one authority and
 * the same certificates, so that another cluster costs almost nothing and can start with the
 * objects of an existing cluster. Each cluster therefore accepts the client certificates of the
 * other clusters, which is harmless in tests. Each cluster has its own bearer token and its own key
 * for ServiceAccount tokens. No credentials are written to files.
 *
 * A fork that a client requests over HTTPS is different. The client becomes an administrator of the
 * fork, but might have no other permission in the origin. Such a fork accepts the credentials of
 * its origin, but the origin does not accept those of the fork.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mastersGroup } from '../../api/user.ts'
import { type Certificate, createAuthority, issue } from '../../lib/x509/certificates.ts'

export type Credentials = {
  /** The authority that issued the server's certificate. */
  readonly authority: Certificate
  /** The authority that issues client certificates. */
  readonly clientAuthority: Certificate
  /** The authorities whose client certificates are accepted, in PEM. */
  readonly clientCaPem: string
  readonly server: Certificate
  /** The client certificate of a member of system:masters. */
  readonly admin: Certificate
  /** A bearer token of a member of system:masters. */
  readonly token: string
  /** The private key for ServiceAccount tokens, in PEM. */
  readonly accountKeyPem: string
  /**
   * The keys of the clusters from which this one was forked. Tokens signed with them are also
   * accepted.
   */
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

/** The shared credentials. They are created on first use. */
const ofProcess: { shared?: SharedCredentials } = {}

/**
 * Creates the credentials of a new cluster. A fork that a test creates does not get new
 * credentials, because its objects might refer to tokens of the original cluster.
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
 * Creates the credentials of a fork that a client requests over HTTPS. The fork also accepts the
 * credentials of its origin, but its own credentials grant no permissions in the origin.
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
 * The validity period of certificates. It includes all possible times: clients use the real time,
 * but the clock of a cluster can show any time. RFC 5280, section 4.1.2.5, uses this end for
 * certificates that do not expire.
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

/**
 * Creates a key on an elliptic curve. Generating an RSA key would take longer than all other steps.
 */
function createKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
