// A certificate by what it says: its key, serial number and signature differ from run to run.
import { X509Certificate } from 'node:crypto';
import { DerReader } from '../../../../../src/lib/x509/der-reader.ts';

const MINUTE_MS = 60_000;

/** Ids, whether critical, and values of its extensions, in hex. */
function extensionsOf(raw) {
  const body = new DerReader(raw).sequence('Certificate').sequence('TBSCertificate');
  const all = [];
  while (!body.isAtEnd) {
    const { tag, content } = body.any();
    if (tag !== 0xa3) continue;
    for (const list = new DerReader(content).sequence('Extensions'); !list.isAtEnd; ) {
      const one = list.sequence('Extension');
      const id = one.any().content.toString('hex');
      const next = one.any();
      const isCritical = next.tag === 1;
      all.push(`${id}${isCritical ? ' critical' : ''} ${(isCritical ? one.any() : next).content.toString('hex')}`);
    }
  }
  return all;
}

/** The subject as it is encoded, the types of its texts included. */
function subjectOf(raw) {
  const body = new DerReader(raw).sequence('Certificate').sequence('TBSCertificate');
  for (let before = 0; before < 5; before++) body.any();
  return body.any().whole.toString('hex');
}

export function certificateOf({ metadata, status }) {
  const certificate = new X509Certificate(Buffer.from(status.certificate, 'base64'));
  const { raw, subject, issuer, subjectAltName = null, validFromDate, validToDate } = certificate;
  return {
    subject,
    encoded: subjectOf(raw),
    issuer,
    names: subjectAltName,
    extensions: extensionsOf(raw),
    minutes: (validToDate - validFromDate) / MINUTE_MS,
    // A request takes less than a minute to be signed.
    backdatedMinutes: Math.floor((Date.parse(metadata.creationTimestamp) - validFromDate) / MINUTE_MS + 1),
  };
}
