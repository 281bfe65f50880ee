/**
 * What `keelson dev` keeps in its folder: a CA, the server's certificate, an administrator's
 * certificate and kubeconfig, the signing key of ServiceAccount tokens, and the data of the store
 * or of etcd. All of it is created once and reused, so that a kubeconfig stays valid over restarts.
 */
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { createKubeconfig, type Kubeconfig } from '../../api/kubeconfig.ts'
import { mastersGroup } from '../../api/user.ts'
import { messageOf } from '../../lib/errors.ts'
import { readIfThere } from '../../lib/process/files.ts'
import { jsonToYaml } from '../../objects/codec/yaml-print.ts'
import { type Certificate, createAuthority, issue } from '../../lib/x509/certificates.ts'
import { fileIn, hasLock, lockFolder, makeFolder } from '../../storage/sqlite/folder-lock.ts'

export type DataFolder = {
  /** Absolute. */
  readonly path: string
  /** Of the store of the server itself. */
  readonly store: string
  readonly etcdData: string
  readonly etcdLog: string
  /** The Unix sockets of an etcd that runs. */
  readonly etcdSockets: string
  readonly caCertificate: string
  readonly caKey: string
  readonly serverCertificate: string
  readonly serverKey: string
  /** Signs ServiceAccount tokens. */
  readonly accountKey: string
  readonly kubeconfig: string
  /** The port of the last start. */
  readonly portFile: string
}

const SECRET_MODE = 0o600

/**
 * Nothing is written but the folder itself, and nothing into one of something else. The error says
 * what to do.
 */
export function openDataFolder(path: string): DataFolder {
  const folder = layout(resolve(path))
  const others = orExplain(folder, () => {
    makeFolder(folder.path)
    return isOurs(folder) ? [] : readdirSync(folder.path).filter((name) => !placeholders.has(name))
  })
  if (others.length > 0) {
    throw new Error(
      `${folder.path} is a folder of something else (it has ${others[0]}): give an empty one, or one that keelson dev made, as --data-dir`,
    )
  }
  return folder
}

export type FillOptions = {
  /** Where the server listens. */
  readonly bindAddress: string
  readonly nowMs: number
}

/**
 * For who has the lock of the folder: two that start at once would make half a pair of keys each.
 */
export function fillDataFolder(folder: DataFolder, { bindAddress, nowMs }: FillOptions): void {
  orExplain(folder, () => {
    // Keys and a database do not belong in a repository.
    writeIfAbsent(join(folder.path, '.gitignore'), '*\n')
    const authority = keepCertificate(join(folder.path, 'ca'), () =>
      createAuthority('keelson-dev', nowMs),
    )
    const server = { authority, addresses: addressesOf(bindAddress) }
    keepCertificate(
      join(folder.path, 'server'),
      () =>
        issue(authority, {
          commonName: 'kube-apiserver',
          usage: 'server',
          hosts: serverHosts(bindAddress),
          nowMs,
        }),
      (kept) => isValid(kept, server),
    )
    if (readWhole(folder.accountKey) === undefined)
      writeSecret(folder.accountKey, createAccountKey())
  })
}

/** For what fails if the folder cannot be written to. */
export function orExplain<T>(folder: DataFolder, use: () => T): T {
  try {
    return use()
  } catch (cause) {
    const why = messageOf(cause)
    throw new Error(
      `${folder.path} cannot be used (${why}): give a folder that you can write to as --data-dir`,
      {
        cause,
      },
    )
  }
}

/** What keeps an empty folder in a repository, or a system leaves in any. */
const placeholders: ReadonlySet<string> = new Set(['.gitignore', '.gitkeep', '.keep', '.DS_Store'])

/** The lock is what a first start writes first. */
const isOurs = (folder: DataFolder): boolean =>
  existsSync(folder.caCertificate) ||
  hasLock(folder.path) ||
  hasStoreData(folder) ||
  hasEtcdData(folder)

const hasStoreData = (folder: DataFolder): boolean => existsSync(fileIn(folder.store))

/** Whether an etcd has run there: a folder of this name may be anything. */
export const hasEtcdData = (folder: DataFolder): boolean =>
  existsSync(join(folder.etcdData, 'member'))

/**
 * Certificates stay, so that a kubeconfig does. Nothing else in the folder is touched; what is not
 * a store's is refused.
 */
export function forgetObjects(folder: DataFolder): void {
  for (const [path, isStore] of [
    [folder.store, hasStoreData(folder)],
    [folder.etcdData, hasEtcdData(folder)],
  ] as const) {
    if (!isStore && existsSync(path) && !isEmpty(path)) {
      throw new Error(
        `--reset: ${path} has something else than objects of keelson dev and was left as it is: move it away`,
      )
    }
  }
  // A `keelson serve` may have been started on the store itself.
  using _ = hasStoreData(folder) ? lockFolder(folder.store) : undefined
  for (const path of [folder.store, folder.etcdData]) rmSync(path, { recursive: true, force: true })
  rmSync(folder.etcdLog, { force: true })
  rmSync(folder.etcdSockets, { recursive: true, force: true })
}

function isEmpty(path: string): boolean {
  try {
    return readdirSync(path).length === 0
  } catch (error) {
    // A file, for example, which is no store.
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return false
    throw error
  }
}

export type ServedAddress = {
  readonly serverUrl: string
  /** The name of context, cluster and, with `-admin`, user. */
  readonly context: string
  readonly nowMs: number
}

/** Written at each start, since the address may have changed. */
export function writeKubeconfig(
  folder: DataFolder,
  { serverUrl, context, nowMs }: ServedAddress,
): Kubeconfig {
  const authority = readCertificate(join(folder.path, 'ca'))
  if (authority === undefined) throw new Error(`${folder.caCertificate} is gone`)
  const admin = keepCertificate(
    join(folder.path, 'admin'),
    () =>
      issue(authority, {
        commonName: 'admin',
        organizations: [mastersGroup],
        usage: 'client',
        hosts: [],
        nowMs,
      }),
    (kept) => isValid(kept, { authority, addresses: [] }),
  )
  const kubeconfig = createKubeconfig({
    url: serverUrl,
    name: context,
    certificateAuthority: authority.certificatePem,
    login: { name: `${context}-admin`, certificate: admin },
  })
  writeSecret(folder.kubeconfig, jsonToYaml(kubeconfig))
  writeFileSync(folder.portFile, `${new URL(serverUrl).port}\n`)
  return kubeconfig
}

function layout(path: string): DataFolder {
  return {
    path,
    store: join(path, 'store'),
    etcdData: join(path, 'etcd'),
    etcdLog: join(path, 'etcd.log'),
    etcdSockets: join(path, 'etcd-sockets'),
    caCertificate: join(path, 'ca.crt'),
    caKey: join(path, 'ca.key'),
    serverCertificate: join(path, 'server.crt'),
    serverKey: join(path, 'server.key'),
    accountKey: join(path, 'sa.key'),
    kubeconfig: join(path, 'kubeconfig'),
    portFile: join(path, 'port'),
  }
}

/**
 * The certificate is valid for all addresses of this machine at that time, and for the names that
 * pods would use.
 */
function serverHosts(bindAddress: string): string[] {
  const names = [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ]
  return ['127.0.0.1', '::1', ...addressesOf(bindAddress), ...ownAddresses(), ...names]
}

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address.replace(/%.*$/, '')),
  )

/**
 * Where clients find a server that listens there; the machine may have got others since its
 * certificate was made.
 */
const addressesOf = (bindAddress: string): readonly string[] =>
  isWildcard(bindAddress) ? ownAddresses() : [bindAddress.replace(/%.*$/, '')]

const isWildcard = (address: string): boolean => address === '0.0.0.0' || address === '::'

/** Where kubectl on this machine finds it. */
export const reachableHost = (bindAddress: string): string =>
  isWildcard(bindAddress) ? '127.0.0.1' : bindAddress

type CertificateRequest = { readonly authority: Certificate; readonly addresses: readonly string[] }

/**
 * Whether it is of this authority, names all of these addresses, and has its own key: one of the
 * two files may be older than the other.
 */
function isValid(
  { certificatePem, keyPem }: Certificate,
  { authority, addresses }: CertificateRequest,
): boolean {
  try {
    const certificate = new X509Certificate(certificatePem)
    const isIssued = certificate.verify(new X509Certificate(authority.certificatePem).publicKey)
    const isPair = certificate.checkPrivateKey(createPrivateKey(keyPem))
    return (
      isIssued && isPair && addresses.every((address) => certificate.checkIP(address) !== undefined)
    )
  } catch {
    // It is no certificate, or no key, or the address is none.
    return false
  }
}

function keepCertificate(
  base: string,
  make: () => Certificate,
  isKept: (found: Certificate) => boolean = () => true,
): Certificate {
  const kept = readCertificate(base)
  if (kept !== undefined && isKept(kept)) return kept
  const made = make()
  writeSecret(`${base}.key`, made.keyPem)
  writeFileSync(`${base}.crt`, made.certificatePem)
  return made
}

function readCertificate(base: string): Certificate | undefined {
  const certificatePem = readWhole(`${base}.crt`)
  const keyPem = readWhole(`${base}.key`)
  return certificatePem === undefined || keyPem === undefined
    ? undefined
    : { certificatePem, keyPem }
}

/** A machine that fails soon after a file was written may leave it empty. */
const readWhole = (path: string): string | undefined => readIfThere(path) || undefined

/** An elliptic curve: generating an RSA key takes longer than the start of the whole server. */
function createAccountKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

const writeSecret = (path: string, text: string): void =>
  writeFileSync(path, text, { mode: SECRET_MODE })

function writeIfAbsent(path: string, text: string): void {
  if (readIfThere(path) === undefined) writeFileSync(path, text)
}
