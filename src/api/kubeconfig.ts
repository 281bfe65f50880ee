/**
 * A self-contained kubeconfig as an object, so that clients need no other file. Because JSON is
 * valid YAML, the object can be written as JSON.
 */
import type { Certificate } from '../lib/x509/certificates.ts'

export type Kubeconfig = {
  readonly apiVersion: 'v1'
  readonly kind: 'Config'
  readonly 'current-context': string
  readonly clusters: readonly {
    readonly name: string
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string }
  }[]
  readonly users: readonly {
    readonly name: string
    readonly user:
      | { readonly 'client-certificate-data': string; readonly 'client-key-data': string }
      | { readonly token: string }
  }[]
  readonly contexts: readonly {
    readonly name: string
    readonly context: {
      readonly cluster: string
      readonly user: string
      readonly namespace?: string
    }
  }[]
}

export type Login = { readonly name: string } & (
  | { readonly certificate: Certificate }
  | { readonly token: string }
)

export type KubeconfigOptions = {
  readonly url: string
  /** Name of both the cluster and the context. */
  readonly name: string
  /** Certificate in PEM format. */
  readonly certificateAuthority: string
  readonly login: Login
}

export function createKubeconfig({
  url,
  name,
  certificateAuthority,
  login,
}: KubeconfigOptions): Kubeconfig {
  const user =
    'token' in login
      ? { token: login.token }
      : {
          'client-certificate-data': base64(login.certificate.certificatePem),
          'client-key-data': base64(login.certificate.keyPem),
        }
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [
      {
        name,
        cluster: { server: url, 'certificate-authority-data': base64(certificateAuthority) },
      },
    ],
    users: [{ name: login.name, user }],
    contexts: [{ name, context: { cluster: name, user: login.name } }],
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
