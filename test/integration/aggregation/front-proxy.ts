/**
 * Creates the files and flags of a server in front of aggregated API servers. They are a CA for
 * front proxies, and a client certificate of this CA, with which the server authenticates.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Authority } from '../../support/harness/issued-certificate.ts'

/** Writes the files into the folder of the server. Returns the flags that name them. */
export async function prepareFrontProxy(dir: string): Promise<string[]> {
  const authority = new Authority('front-proxy-ca')
  const { certificatePem, keyPem } = authority.issue({ cn: 'front-proxy-client' })
  await writeFile(join(dir, 'front-proxy-ca.pem'), authority.certificatePem)
  await writeFile(join(dir, 'front-proxy-client.pem'), certificatePem)
  await writeFile(join(dir, 'front-proxy-client-key.pem'), keyPem, { mode: 0o600 })
  return [
    `--requestheader-client-ca-file=${join(dir, 'front-proxy-ca.pem')}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${join(dir, 'front-proxy-client.pem')}`,
    `--proxy-client-key-file=${join(dir, 'front-proxy-client-key.pem')}`,
  ]
}
