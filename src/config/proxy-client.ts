/** The client certificate for aggregated API servers. kubeadm always gives one, so it is taken before there is aggregation; what is wrong with it would else show then. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Values } from './values.ts'

export function checkProxyClient(values: Values, warn: (text: string) => void): void {
  const certificatePem = values.file('proxy-client-cert-file')
  const keyPem = values.file('proxy-client-key-file')
  if (!values.isGiven('proxy-client-cert-file') && !values.isGiven('proxy-client-key-file')) return
  if (values.string('proxy-client-cert-file') === '' || values.string('proxy-client-key-file') === '') {
    return values.fault('--proxy-client-cert-file and --proxy-client-key-file need each other')
  }
  // One that cannot be read has been told of.
  if (certificatePem === '' || keyPem === '') return
  if (!isPair(certificatePem, keyPem)) {
    return values.fault(
      '--proxy-client-key-file is not the key of --proxy-client-cert-file: give two PEM files that belong together',
    )
  }
  warn('--proxy-client-cert-file is not used: aggregated API servers are not served yet')
}

function isPair(certificatePem: string, keyPem: string): boolean {
  try {
    return new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem))
  } catch {
    // One of them is no PEM.
    return false
  }
}
