/** Creates certificates with arbitrary extensions, with the openssl command. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type TreeCertificate = {
  readonly name: string
  readonly certificatePem: string
  readonly keyPem: string
}

export type Growth = {
  /** The issuer. If absent, the certificate is self-signed. */
  readonly by?: TreeCertificate
  readonly subject?: string
  /** Lines of an extension file for openssl. */
  readonly extensions: readonly string[]
  /**
   * Time in milliseconds until the certificate expires, by default a day. The validity of all
   * certificates began an hour ago.
   */
  readonly endsInMs?: number
}

export const authorityExtensions = [
  'basicConstraints=critical,CA:true',
  'keyUsage=critical,keyCertSign',
] as const

export class CertificateTree implements Disposable {
  readonly #dir = mkdtempSync(join(tmpdir(), 'keelson-tree-'))

  make(
    name: string,
    { by, subject = `/CN=${name}`, extensions, endsInMs = 86_400_000 }: Growth,
  ): TreeCertificate {
    const openssl = (...args: string[]) =>
      execFileSync('openssl', args, { cwd: this.#dir, stdio: 'pipe' })
    openssl('ecparam', '-genkey', '-name', 'prime256v1', '-noout', '-out', `${name}.key`)
    openssl('req', '-new', '-key', `${name}.key`, '-subj', subject, '-out', `${name}.csr`)
    writeFileSync(
      join(this.#dir, `${name}.ext`),
      ['subjectKeyIdentifier=hash', ...extensions, ''].join('\n'),
    )
    writeFileSync(join(this.#dir, 'index.txt'), '')
    const signer = by?.name ?? name
    const own = by === undefined ? ['-selfsign'] : ['-cert', `${signer}.crt`]
    writeFileSync(join(this.#dir, 'ca.cnf'), caConfig)
    openssl(
      ...[
        'ca',
        '-batch',
        '-notext',
        '-config',
        'ca.cnf',
        '-in',
        `${name}.csr`,
        '-out',
        `${name}.crt`,
      ],
      ...['-keyfile', `${signer}.key`, ...own, '-extfile', `${name}.ext`],
      ...[
        '-startdate',
        openSslTime(Date.now() - 3_600_000),
        '-enddate',
        openSslTime(Date.now() + endsInMs),
      ],
    )
    const read = (suffix: string): string =>
      readFileSync(join(this.#dir, `${name}.${suffix}`), 'utf8')
    return { name, certificatePem: read('crt'), keyPem: read('key') }
  }

  [Symbol.dispose](): void {
    rmSync(this.#dir, { recursive: true })
  }
}

const openSslTime = (ms: number): string =>
  `${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`

const caConfig = `
[ca]
default_ca = any
[any]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = all
unique_subject = no
email_in_dn = no
[all]
organizationName = optional
commonName = optional
`
