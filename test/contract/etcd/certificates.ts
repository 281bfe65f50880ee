/** Creates a certificate authority and certificates for tests with the openssl command. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Authority = {
  /** Path of the authority's certificate. */
  readonly ca: string
  /**
   * Creates `name`.crt and `name`.key in the folder and returns their paths. Each call creates new
   * files.
   */
  readonly issue: (name: string, host?: string) => { readonly cert: string; readonly key: string }
}

export function makeAuthority(dir: string): Authority {
  mkdirSync(dir, { recursive: true })
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' })
  }
  const newKey = (name: string): void =>
    openssl('ecparam', '-genkey', '-name', 'prime256v1', '-noout', '-out', `${name}.key`)
  newKey('ca')
  openssl(
    'req',
    '-x509',
    '-new',
    '-key',
    'ca.key',
    '-subj',
    '/CN=test-ca',
    '-days',
    '1',
    '-out',
    'ca.crt',
  )
  return {
    ca: join(dir, 'ca.crt'),
    issue: (name, host = 'localhost') => {
      newKey(name)
      openssl('req', '-new', '-key', `${name}.key`, '-subj', `/CN=${name}`, '-out', `${name}.csr`)
      writeFileSync(
        join(dir, `${name}.ext`),
        `subjectAltName=DNS:${host}\nextendedKeyUsage=serverAuth,clientAuth\n`,
      )
      openssl(
        ...[
          'x509',
          '-req',
          '-in',
          `${name}.csr`,
          '-CA',
          'ca.crt',
          '-CAkey',
          'ca.key',
          '-CAcreateserial',
        ],
        ...['-days', '1', '-extfile', `${name}.ext`, '-out', `${name}.crt`],
      )
      return { cert: join(dir, `${name}.crt`), key: join(dir, `${name}.key`) }
    },
  }
}
