/**
 * The metric that shows when certificates expire. It covers the certificates in all files that the
 * server reloads: serving certificates, client certificates for etcd and for aggregated API
 * servers, and CAs.
 */
import { X509Certificate } from 'node:crypto'
import type { Metrics } from '../lib/telemetry/metrics.ts'
import { certificateBlocks, isCertificate } from '../lib/x509/trust-anchors.ts'
import type { WatchedFile } from '../net/http/reload.ts'

/** `files` returns the files, each with the content that is in use. */
export function addCertificateMetrics(metrics: Metrics, files: () => readonly WatchedFile[]): void {
  const expiration = metrics.gauge({
    name: 'keelson_certificate_expiration_timestamp_seconds',
    help: 'Unix time at which the first certificate in a file expires. The file can contain several certificates.',
    labels: ['path'],
  })
  let printed = new Map<string, string>()
  metrics.onPrint(() => {
    const current = new Map(files().map(({ path, text }) => [path, text]))
    for (const [path, text] of current) {
      if (printed.get(path) === text) continue
      const seconds = firstExpiration(text)
      if (seconds === undefined) expiration.remove(path)
      else expiration.with(path).value = seconds
    }
    printed = current
  })
}

/** Returns undefined if there is no certificate, because the file has not been written yet. */
function firstExpiration(pem: string): number | undefined {
  return certificateBlocks(pem)
    .filter(isCertificate)
    .map((block) => new X509Certificate(block).validToDate.getTime() / 1000)
    .toSorted((one, other) => one - other)[0]
}
