/**
 * The folder of `keelson dev`. It contains a CA, the server's certificate, an administrator's
 * certificate and kubeconfig, the signing key of ServiceAccount tokens, and the data of the store
 * or of etcd. Keys and certificates are reused while they are valid, so that a kubeconfig still
 * works after a restart.
 */
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { createKubeconfig, type Kubeconfig } from '../../api/kubeconfig.ts'
import { mastersGroup } from '../../api/user.ts'
import { orExplain, readIfThere } from '../../lib/process/files.ts'
import { jsonToYaml } from '../../objects/codec/yaml-print.ts'
import { type Certificate, createAuthority, issue } from '../../lib/x509/certificates.ts'
import { fileIn, hasLock, lockFolder, makeFolder } from '../../storage/sqlite/folder-lock.ts'

export type DataFolder = {
  /** The absolute path of the folder. */
  readonly path: string
  /** The folder of the embedded store. */
  readonly store: string
  readonly etcdData: string
  readonly etcdLog: string
  /** The folder for the Unix sockets of a running etcd. */
  readonly etcdSockets: string
  readonly caCertificate: string
  readonly caKey: string
  readonly serverCertificate: string
  readonly serverKey: string
  /** The key that signs ServiceAccount tokens. */
  readonly accountKey: string
  readonly kubeconfig: string
  /** The file that contains the port of the last start. */
  readonly portFile: string
}

const SECRET_MODE = 0o600

/**
 * Opens a data folder. Creates the folder if it is missing, but no files in it. Rejects a folder
 * that contains other files, with an error that says what to do.
 */
export function openDataFolder(path: string): DataFolder {
  const folder = layout(resolve(path))
  const others = orExplain(folder.path, folderAdvice, () => {
    makeFolder(folder.path)
    return isOurs(folder) ? [] : readdirSync(folder.path).filter((name) => !placeholders.has(name))
  })
  if (others.length > 0) {
    throw new Error(
      `${folder.path} is not a folder of keelson dev (it contains ${others[0]}): use an empty folder, or one that keelson dev created, as --data-dir`,
    )
  }
  return folder
}

export type FillOptions = {
  /** The address on which the server listens. */
  readonly bindAddress: string
  readonly nowMs: number
}

/**
 * Creates the missing files. The caller must hold the lock of the folder, because two concurrent
 * starts could each write half of a key pair.
 */
export function fillDataFolder(folder: DataFolder, { bindAddress, nowMs }: FillOptions): void {
  orExplain(folder.path, folderAdvice, () => {
    // Exclude the folder from Git, because keys and databases do not belong in a repository.
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

/** Advice that errors in the data folder contain. */
export const folderAdvice = 'choose a writable folder with --data-dir'

/**
 * Files that do not count as content: those that keep an empty folder in a repository, and the one
 * that macOS creates in any folder.
 */
const placeholders: ReadonlySet<string> = new Set(['.gitignore', '.gitkeep', '.keep', '.DS_Store'])

/**
 * Whether `keelson dev` has used the folder before. If a start was interrupted early, the folder
 * may contain only the lock.
 */
const isOurs = (folder: DataFolder): boolean =>
  existsSync(folder.caCertificate) ||
  hasLock(folder.path) ||
  hasStoreData(folder) ||
  hasEtcdData(folder)

const hasStoreData = (folder: DataFolder): boolean => existsSync(fileIn(folder.store))

/**
 * Whether etcd has stored data in the folder. If so, there is a subfolder `member`. A folder that
 * is only named `etcd` could contain anything.
 */
export const hasEtcdData = (folder: DataFolder): boolean =>
  existsSync(join(folder.etcdData, 'member'))

/**
 * Deletes all objects. The certificates are kept, so that existing kubeconfigs still work. If the
 * folder of the embedded store or of etcd contains other files, fails without deleting anything.
 */
export function forgetObjects(folder: DataFolder): void {
  for (const [path, isStore] of [
    [folder.store, hasStoreData(folder)],
    [folder.etcdData, hasEtcdData(folder)],
  ] as const) {
    if (!isStore && existsSync(path) && !isEmpty(path)) {
      throw new Error(
        `--reset: ${path} contains other files than objects of keelson dev, and was not changed: move it elsewhere`,
      )
    }
  }
  // Lock the embedded store: a `keelson serve` process might be using it.
  using _ = hasStoreData(folder) ? lockFolder(folder.store) : undefined
  for (const path of [folder.store, folder.etcdData]) rmSync(path, { recursive: true, force: true })
  rmSync(folder.etcdLog, { force: true })
  rmSync(folder.etcdSockets, { recursive: true, force: true })
}

function isEmpty(path: string): boolean {
  try {
    return readdirSync(path).length === 0
  } catch (error) {
    // The path names a file, which is not an empty folder.
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return false
    throw error
  }
}

export type ServedAddress = {
  readonly serverUrl: string
  /**
   * The name of the context and of the cluster. The name of the user has the additional suffix
   * `-admin`.
   */
  readonly context: string
  readonly nowMs: number
}

/** Writes the kubeconfig. This is called at each start, because the address may have changed. */
export function writeKubeconfig(
  folder: DataFolder,
  { serverUrl, context, nowMs }: ServedAddress,
): Kubeconfig {
  const authority = readCertificate(join(folder.path, 'ca'))
  if (authority === undefined)
    throw new Error(`${folder.caCertificate} was removed during the start: start again`)
  return orExplain(folder.path, folderAdvice, () => {
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
  })
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
 * Returns the hosts of a new server certificate: all current addresses of this machine, and the
 * names that Pods use for the API server.
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
 * Returns the addresses that the server certificate must contain. They are the addresses at which
 * clients reach a server that listens on `bindAddress`, and may have changed since the certificate
 * was created.
 */
const addressesOf = (bindAddress: string): readonly string[] =>
  isWildcard(bindAddress) ? ownAddresses() : [bindAddress.replace(/%.*$/, '')]

const isWildcard = (address: string): boolean => address === '0.0.0.0' || address === '::'

/** Returns the host name or address at which kubectl on this machine reaches the server. */
export const reachableHost = (bindAddress: string): string =>
  isWildcard(bindAddress) ? '127.0.0.1' : bindAddress

type CertificateRequest = { readonly authority: Certificate; readonly addresses: readonly string[] }

/**
 * Whether a server certificate can still be used: `authority` has issued it, it contains all of
 * these addresses, and it matches the key. It does not match the key if a start was interrupted
 * after only one of the two files was replaced.
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
    // An error means that the certificate or key is malformed, or that an address is not an IP
    // address.
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

/**
 * Reads a file. Returns undefined if the file is empty. A machine that fails soon after a write can
 * leave an empty file.
 */
const readWhole = (path: string): string | undefined => readIfThere(path) || undefined

/**
 * Creates a key on an elliptic curve. Generating an RSA key would take longer than starting the
 * server.
 */
function createAccountKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

const writeSecret = (path: string, text: string): void =>
  writeFileSync(path, text, { mode: SECRET_MODE })

function writeIfAbsent(path: string, text: string): void {
  if (readIfThere(path) === undefined) writeFileSync(path, text)
}
