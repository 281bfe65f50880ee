/** Reads `--tls-cipher-suites`. Converts the names used by Go to those used by OpenSSL. */
import type { Values } from './values.ts'

/**
 * The TLS 1.3 cipher suites. As in Go, they are always offered, because the flag applies only to
 * TLS 1.2.
 */
const tls13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']

const tls12: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
}

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
