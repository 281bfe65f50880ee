/**
 * Reloads files that may be renewed while the server runs: serving certificates, signing CAs, and
 * the CAs of client certificates. The client certificates for aggregated API servers and for etcd
 * are also reloaded.
 */
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { ClientCertificate } from '../request/aggregation/client-certificate.ts'
import {
  type AuthorityUse,
  type ClientAuthorities,
  joinPems,
} from '../access/authentication/client-authorities.ts'
import type { Config } from '../config/config.ts'
import { loadOrCreateCertificate } from '../net/http/certificate.ts'
import type { Listener } from '../net/http/listener.ts'
import { FileReloader } from '../net/http/reload.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Certificate } from '../lib/x509/certificates.ts'

/** Replaces the CA of the given signers. */
type RenewSigner = (signers: readonly string[], certificatePem: string, keyPem: string) => void

export type ServerReloadOptions = {
  readonly listener: Listener
  /** The current serving certificate, and its files if it was read from files. */
  readonly certificate: Certificate
  readonly files: { readonly certificatePath: string; readonly keyPath: string } | undefined
  readonly authorities: ClientAuthorities
  /** Called with a new CA that signs certificates. Throws if the CA cannot be used. */
  readonly renewSigner: RenewSigner
  /** The certificate that this server presents to aggregated API servers. */
  readonly proxyClient: ClientCertificate
  /** Called after the CAs have changed. */
  readonly onAuthorities: () => void
  readonly log: Log
}

export function loadCertificate(
  { tls: { certificate: source }, network }: Config,
  { wallMs }: Clock,
): Pick<ServerReloadOptions, 'certificate' | 'files'> {
  if (source.kind === 'given') return { certificate: source.certificate, files: undefined }
  if (source.kind === 'folder') {
    const { certificate, ...files } = loadOrCreateCertificate(
      source.path,
      [network.bindAddress, network.advertiseAddress],
      wallMs(),
    )
    return { certificate, files }
  }
  const { certificatePath, keyPath } = source
  const certificatePem = readFileSync(certificatePath, 'utf8')
  const certificate = { certificatePem, keyPem: readFileSync(keyPath, 'utf8') }
  return { certificate, files: { certificatePath, keyPath } }
}

export function createReloaders(config: Config, options: ServerReloadOptions): FileReloader[] {
  const { requestHeader } = config.authentication
  return [
    ...servingReloader(options),
    ...config.serving.namedCertificates.map((named, at) => namedReloader(named, at, options)),
    ...config.controllers.signing.pairs
      .filter(({ certificatePath }) => certificatePath !== '')
      .map((pair) => signingReloader(pair, options)),
    ...proxyClientReloader(config, options),
    ...etcdReloader(config, options),
    ...authorityReloaders(options, 'client', config.authentication.clientCaPath),
    ...authorityReloaders(options, 'requestHeader', requestHeader?.caPath ?? null),
  ]
}

function servingReloader({
  listener,
  certificate,
  files,
  log,
}: ServerReloadOptions): FileReloader[] {
  if (files === undefined) return []
  const reloader = new FileReloader(
    [
      { path: files.certificatePath, text: certificate.certificatePem },
      { path: files.keyPath, text: certificate.keyPem },
    ],
    {
      what: 'the serving certificate',
      use: ([certificatePem = '', keyPem = '']) =>
        listener.setCertificate({ certificatePem, keyPem }),
      log,
    },
  )
  return [reloader]
}

function namedReloader(
  {
    certificatePath,
    keyPath,
    certificatePem,
    keyPem,
  }: Config['serving']['namedCertificates'][number],
  at: number,
  { listener, log }: ServerReloadOptions,
): FileReloader {
  const files = [
    { path: certificatePath, text: certificatePem },
    { path: keyPath, text: keyPem },
  ]
  const use = ([certificate = '', key = '']: readonly string[]): void =>
    listener.setNamedCertificate(at, { certificatePem: certificate, keyPem: key })
  return new FileReloader(files, { what: 'an SNI serving certificate', use, log })
}

function signingReloader(
  {
    signers,
    certificatePath,
    keyPath,
    certificatePem,
    keyPem,
  }: Config['controllers']['signing']['pairs'][number],
  { renewSigner, log }: ServerReloadOptions,
): FileReloader {
  const use = ([certificate = '', key = '']: readonly string[]): void =>
    renewSigner(signers, certificate, key)
  const files = [
    { path: certificatePath, text: certificatePem },
    { path: keyPath, text: keyPem },
  ]
  return new FileReloader(files, { what: 'a certificate signing CA', use, log })
}

/**
 * Reloads the client certificate for aggregated API servers. Its files may be created after the
 * server has started.
 */
function proxyClientReloader(
  config: Config,
  { proxyClient, log }: ServerReloadOptions,
): FileReloader[] {
  if (config.aggregation.proxyClient === null) return []
  const { certificatePem = '', keyPem = '' } = proxyClient.current ?? {}
  const files = [
    { path: config.aggregation.proxyClient.certificatePath, text: certificatePem },
    { path: config.aggregation.proxyClient.keyPath, text: keyPem },
  ]
  const use = ([certificate = '', key = '']: readonly string[]): void =>
    proxyClient.set(certificate, key)
  return [new FileReloader(files, { what: 'the proxy client certificate', use, log })]
}

/**
 * Reports a renewal of the client certificate for etcd. The certificate need not be replaced here,
 * because each connection to etcd reads the files itself.
 */
function etcdReloader(
  { storage: { store } }: Config,
  { log }: ServerReloadOptions,
): FileReloader[] {
  const { cert, key } = (store.kind === 'etcd' ? store.tls : null) ?? {}
  if (cert === undefined || key === undefined) return []
  const files = [cert, key].map((path) => ({ path, text: readFileSync(path, 'utf8') }))
  return [new FileReloader(files, { what: 'the client certificate for etcd', use: checkPair, log })]
}

/** Throws if a certificate and a key do not match. */
function checkPair([cert = '', key = '']: readonly string[]): void {
  createSecureContext({ cert, key })
}

const names: { readonly [use in AuthorityUse]: string } = {
  client: 'the client CA file',
  requestHeader: 'the request header client CA file',
}

function authorityReloaders(
  { listener, authorities, onAuthorities, log }: ServerReloadOptions,
  use: AuthorityUse,
  path: string | null,
): FileReloader[] {
  const text = authorities.pems[use]
  if (path === null || text === null) return []
  const take = ([pem = '']: readonly string[]): void => {
    const pems = { ...authorities.pems, [use]: pem }
    // If the PEM is not valid, throws and keeps the current CAs.
    listener.setClientCa(joinPems(pems) ?? '')
    authorities.set(pems)
    onAuthorities()
  }
  return [new FileReloader([{ path, text }], { what: names[use], use: take, log })]
}
