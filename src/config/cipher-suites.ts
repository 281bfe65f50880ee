/** Reads `--tls-cipher-suites`. Converts the names used by Go to those used by OpenSSL. */
import { tls12, tls13 } from './cipher-suite-names.ts'
import type { Values } from './values.ts'

/**
 * Suites that are insecure, but that kube-apiserver still offers: RC4 (RFC 7465) and 3DES
 * (CVE-2016-2183).
 */
const broken = /_WITH_(RC4_128|3DES_EDE_CBC)_SHA$/

/** Returns a cipher list in OpenSSL syntax, or null for the default suites. */
export function readCipherSuites(values: Values, warn: (text: string) => void): string | null {
  const names = values.slice('tls-cipher-suites')
  const chosen: string[] = []
  for (const name of names) {
    if (tls13.includes(name)) continue
    const suite = Object.hasOwn(tls12, name) ? tls12[name] : undefined
    if (suite !== undefined) chosen.push(suite)
    else if (broken.test(name))
      warn(`--tls-cipher-suites: ${name} is insecure, and is not offered to clients`)
    else
      values.fault(
        `Cipher suite ${name} not supported or doesn't exist`,
        '--tls-cipher-suites: use IANA names, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
      )
  }
  return names.length === 0 ? null : [...tls13, ...chosen].join(':')
}
