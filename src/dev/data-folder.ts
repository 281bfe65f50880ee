/**
 * What `keelson dev` keeps in its folder: a CA, the server's certificate, an administrator's certificate and kubeconfig, the
 * signing key of ServiceAccount tokens, and the data of the store or of etcd. All of it is created once and reused, so that a kubeconfig stays valid
 * over restarts.
 */
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { mastersGroup } from '../api/user.ts'
import { readIfThere } from '../lib/read-if-there.ts'
import { type Certificate, createAuthority, issue } from '../lib/x509/certificates.ts'

export type DataFolder = {
  /** Absolute. */
  readonly path: string
  /** Of the store of the server itself. */
  readonly store: string
  readonly etcdData: string
  readonly etcdLog: string
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
const FOLDER_MODE = 0o700

/** If the folder cannot be used, the error says what to do about it. */
export function prepareDataFolder(path: string, nowMs: number): DataFolder {
  const folder = layout(resolve(path))
  try {
    mkdirSync(folder.path, { recursive: true, mode: FOLDER_MODE })
    // Keys and a database do not belong in a repository.
    writeIfAbsent(join(folder.path, '.gitignore'), '*\n')
    const authority = keepCertificate(join(folder.path, 'ca'), () => createAuthority('keelson-dev', nowMs))
    keepCertificate(join(folder.path, 'server'), () =>
      issue(authority, { commonName: 'kube-apiserver', usage: 'server', hosts: serverHosts(), nowMs }),
    )
    if (readIfThere(folder.accountKey) === undefined) writeSecret(folder.accountKey, createAccountKey())
    return folder
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${folder.path} cannot be used (${why}): give a folder that you can write to as --data-dir`, {
      cause,
    })
  }
}

/** Certificates stay, so that a kubeconfig does. Nothing else in the folder is touched. */
export function forgetObjects(folder: DataFolder): void {
  for (const path of [folder.store, folder.etcdData, folder.etcdLog]) rmSync(path, { recursive: true, force: true })
}

export type KubeconfigParts = {
  readonly serverUrl: string
  /** The name of context, cluster and, with `-admin`, user. */
  readonly context: string
  readonly nowMs: number
}

/** Written at each start, since the address may have changed. */
export function writeKubeconfig(folder: DataFolder, { serverUrl, context, nowMs }: KubeconfigParts): void {
  const authority = readCertificate(join(folder.path, 'ca'))
  if (authority === undefined) throw new Error(`${folder.caCertificate} is gone`)
  const admin = keepCertificate(join(folder.path, 'admin'), () =>
    issue(authority, { commonName: 'admin', organizations: [mastersGroup], usage: 'client', hosts: [], nowMs }),
  )
  const text = `apiVersion: v1
kind: Config
current-context: ${context}
clusters:
- name: ${context}
  cluster:
    server: ${serverUrl}
    certificate-authority-data: ${base64(authority.certificatePem)}
users:
- name: ${context}-admin
  user:
    client-certificate-data: ${base64(admin.certificatePem)}
    client-key-data: ${base64(admin.keyPem)}
contexts:
- name: ${context}
  context:
    cluster: ${context}
    user: ${context}-admin
`
  writeSecret(folder.kubeconfig, text)
  writeFileSync(folder.portFile, `${new URL(serverUrl).port}\n`)
}

export const kubeconfigOf = (folder: DataFolder): Buffer => readFileSync(folder.kubeconfig)

const base64 = (text: string): string => Buffer.from(text).toString('base64')

function layout(path: string): DataFolder {
  return {
    path,
    store: join(path, 'store'),
    etcdData: join(path, 'etcd'),
    etcdLog: join(path, 'etcd.log'),
    caCertificate: join(path, 'ca.crt'),
    caKey: join(path, 'ca.key'),
    serverCertificate: join(path, 'server.crt'),
    serverKey: join(path, 'server.key'),
    accountKey: join(path, 'sa.key'),
    kubeconfig: join(path, 'kubeconfig'),
    portFile: join(path, 'port'),
  }
}

/** The certificate is valid for all current addresses of this machine, and for the names that pods would use. */
function serverHosts(): string[] {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address))
  const addresses = own.map((address) => address.replace(/%.*$/, ''))
  const names = [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ]
  return ['127.0.0.1', '::1', ...addresses, ...names]
}

function keepCertificate(base: string, make: () => Certificate): Certificate {
  const kept = readCertificate(base)
  if (kept !== undefined) return kept
  const made = make()
  writeSecret(`${base}.key`, made.keyPem)
  writeFileSync(`${base}.crt`, made.certificatePem)
  return made
}

function readCertificate(base: string): Certificate | undefined {
  const certificatePem = readIfThere(`${base}.crt`)
  const keyPem = readIfThere(`${base}.key`)
  return certificatePem === undefined || keyPem === undefined ? undefined : { certificatePem, keyPem }
}

/** An elliptic curve: generating an RSA key takes longer than the start of the whole server. */
function createAccountKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

const writeSecret = (path: string, text: string): void => writeFileSync(path, text, { mode: SECRET_MODE })

function writeIfAbsent(path: string, text: string): void {
  if (readIfThere(path) === undefined) writeFileSync(path, text)
}
