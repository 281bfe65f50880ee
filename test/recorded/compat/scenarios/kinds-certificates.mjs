// certificates.k8s.io/v1: CertificateSigningRequest with its approval and status. The requests were made with openssl for this file.
import { scenario, GET, POST, PATCH } from '../steps.ts';
import { kind } from './kit/kinds-groups.mjs';

const base64 = (text) => Buffer.from(text).toString('base64');
/** CN=oracle, O=dev; P-256. */
const request = `-----BEGIN CERTIFICATE REQUEST-----
MIHbMIGBAgEAMB8xDDAKBgNVBAoMA2RldjEPMA0GA1UEAwwGb3JhY2xlMFkwEwYH
KoZIzj0CAQYIKoZIzj0DAQcDQgAE8gogJQJD315mCYJaAYRxi9S2W1UxnUFXg7gD
UeEq4rK9tVNkp8UMgqCYMkEufDfMYlKQjQJjc403if9BqoR626AAMAoGCCqGSM49
BAMCA0kAMEYCIQCn0pSaiyyb9muHb/tyhp8lh3/AlcSBLO8UJyYLnfIZsgIhAM8C
CYvy2AgYW136RdZ3scgNe7PxKfbbG5Ii8ZXsRJ+B
-----END CERTIFICATE REQUEST-----
`;
/** CN=oracle, O=system:masters. */
const mastersRequest = `-----BEGIN CERTIFICATE REQUEST-----
MIHlMIGMAgEAMCoxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQ8wDQYDVQQDDAZv
cmFjbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATyCiAlAkPfXmYJgloBhHGL
1LZbVTGdQVeDuANR4Srisr21U2SnxQyCoJgyQS58N8xiUpCNAmNzjTeJ/0GqhHrb
oAAwCgYIKoZIzj0EAwIDSAAwRQIhAMo/KoQ/ehUkmeWrDOY/LNoACWtgrKBBjoHQ
14CNfbXIAiADRyY8p7IHEJELTo8W4OtT8YYrchim5RYPJrbbhih1dQ==
-----END CERTIFICATE REQUEST-----
`;
/** CN=oracle, self-signed. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBeTCCAR+gAwIBAgIUJO8bdOGavAByMvwOZbsx0GJOfTkwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGb3JhY2xlMCAXDTI2MTExNTAwMTIyOFoYDzIxMjYxMDIyMDAx
MjI4WjARMQ8wDQYDVQQDDAZvcmFjbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AATyCiAlAkPfXmYJgloBhHGL1LZbVTGdQVeDuANR4Srisr21U2SnxQyCoJgyQS58
N8xiUpCNAmNzjTeJ/0GqhHrbo1MwUTAdBgNVHQ4EFgQUka8wv0c7bbCQD6/N9j/o
JPghZdUwHwYDVR0jBBgwFoAUka8wv0c7bbCQD6/N9j/oJPghZdUwDwYDVR0TAQH/
BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiAm9YLKmswmMw/6ppJEpfq58eb2/jWc
GPJMYEiWTeqfQQIhAK0KOTvtrdrrOa+Mn7b4kiHx8nVC2DlQsqD0OsfFmpjX
-----END CERTIFICATE-----
`;

const csr = kind({ apiVersion: 'certificates.k8s.io/v1', resource: 'certificatesigningrequests', kind: 'CertificateSigningRequest', cluster: true, label: 'csr',
  base: { spec: { request: base64(request), signerName: 'example.com/s', usages: ['client auth'] } } });

const allUsages = ['signing', 'digital signature', 'content commitment', 'key encipherment', 'key agreement', 'data encipherment', 'cert sign', 'crl sign', 'encipher only', 'decipher only', 'any', 'server auth', 'client auth', 'code signing', 'email protection', 's/mime', 'ipsec end system', 'ipsec tunnel', 'ipsec user', 'timestamping', 'ocsp signing', 'microsoft sgc', 'netscape sgc'];
const signer = (signerName) => ({ 'spec.signerName': signerName });
const time = '2020-01-01T00:00:00Z';
const condition = (type, o) => ({ type, status: 'True', reason: 'R', message: 'm', lastUpdateTime: time, lastTransitionTime: time, ...o });
const broken = request.replace('MIHbMIGB', 'MIHbMIGC');
const unsigned = request.replace(/B\n-----END/, 'A\n-----END');

/** Conditions or a certificate in two steps: the first is stored, the others are tried from there. */
const after = (id, about, first, ...then) => scenario(`csr-after-${id}`, { section: '4.7', about: `CertificateSigningRequest: ${about}`, namespace: false, cleanup: [csr.item] }, [
  POST(csr.list, csr.object(), { compare: 'status' }),
  PATCH(`${csr.item}${first[0]}`, 'merge', first[1]),
  ...then.map(([via, patch]) => PATCH(`${csr.item}${via}`, 'merge', patch, { query: { dryRun: 'All' }, pick: cutDiff })),
]);
/** A message may end in a diff of Go values, whose blanks differ from build to build. */
const cutDiff = (b) => (b.kind !== 'Status' ? b : { ...b, message: cut(b.message), details: { ...b.details, causes: b.details?.causes?.map((c) => ({ ...c, message: cut(c.message) })) } });
const cut = (m) => m.replace(/\n[^]*$/, '...');
const approval = (...conditions) => ['/approval', { status: { conditions } }];
const status = (s) => ['/status', { status: s }];
const spec = (s) => ['', { spec: s }];

export default [
  ...csr.creates({
    minimal: {},
    maximal: { spec: { request: base64(request), signerName: 'kubernetes.io/kube-apiserver-client', expirationSeconds: 600, usages: ['client auth', 'digital signature', 'key encipherment'] } },
    'user-fields-overwritten': { 'spec.username': 'fake', 'spec.uid': 'fake', 'spec.groups': ['fake'], 'spec.extra': { k: ['v'] } },
    'status-dropped': { status: { conditions: [condition('Approved')], certificate: base64(certificate) } },
  }),
  scenario('csr-by-impersonated-user', { section: '5', about: 'CertificateSigningRequest: the user fields are those of the caller', namespace: false, cleanup: [csr.item] }, [
    POST(csr.list, csr.object(), { headers: { 'impersonate-user': 'someone', 'impersonate-group': 'system:masters', 'impersonate-uid': 'u1', 'impersonate-extra-scopes': 'view' } }),
  ]),
  ...csr.accepts({ usages: { 'spec.usages': allUsages }, 'any-name': { 'metadata.name': 'Some_Name:x' }, 'signer-name': [signer('example.com/a.b'), signer('kubernetes.io/kubelet-serving'), signer('kubernetes.io/legacy')] }),
  ...csr.refuses({
    request: [{ 'spec.request': undefined }, { 'spec.request': base64('word') }, { 'spec.request': base64(certificate) }, { 'spec.request': base64(broken) }, { 'spec.request': base64(unsigned) }],
    usages: [{ 'spec.usages': undefined }, { 'spec.usages': [] }, { 'spec.usages': ['client auth', 'world domination'] }, { 'spec.usages': ['client auth', 'client auth'] }],
    'signer-name': [signer(undefined), signer(''), signer('plain'), signer('kubernetes.io/legacy-unknown'), signer('example/s'), signer('Example.com/s'), signer('example.com/'), signer('example.com/a b'), signer(`${'a'.repeat(64)}.com/s`), signer('example.com/s:t'), signer('example.com/a/b'), signer('a.b/C')],
    expiration: [{ 'spec.expirationSeconds': 599 }, { 'spec.expirationSeconds': -1 }],
    'masters-of-apiserver-client': { 'spec.request': base64(mastersRequest), 'spec.signerName': 'kubernetes.io/kube-apiserver-client' },
  }),
  ...csr.updates({
    'spec-is-kept': [{ spec: { usages: ['server auth'], signerName: 'other.com/x', expirationSeconds: 700 } }, { status: { conditions: [condition('Approved')] } }, { metadata: { labels: { a: 'b' } } }],
  }),
  ...csr.updates({
    approval: [
      { status: { conditions: [condition('Approved')] } }, { status: { conditions: [{ type: 'Denied', status: 'True' }] } }, { status: { conditions: [condition('Approved', { status: 'False' })] } }, { status: { conditions: [condition('Approved', { status: '' })] } },
      { status: { conditions: [condition('Approved'), condition('Denied')] } }, { status: { conditions: [condition('Custom', { status: 'Maybe' })] } }, { status: { conditions: [condition('')] } }, { status: { conditions: [condition('Failed'), condition('Failed')] } },
      { status: { certificate: base64(certificate) } }, { spec: { usages: ['any'] } }, { metadata: { labels: { a: 'b' } } },
    ],
  }, { via: '/approval' }),
  ...csr.updates({
    status: [
      { status: { certificate: base64(certificate) } }, { status: { certificate: base64(`text\n${certificate}${certificate}`) } }, { status: { certificate: base64('word') } }, { status: { certificate: base64(request) } }, { status: { certificate: base64(certificate.replace('-----\n', '-----\nA: b\n\n')) } },
      { status: { conditions: [condition('Failed')] } }, { status: { conditions: [condition('Approved')] } }, { status: { conditions: [{ type: 'Custom', status: 'Unknown' }] } }, { spec: { usages: ['any'] } }, { metadata: { labels: { a: 'b' } } },
    ],
  }, { via: '/status' }),
  after('approval', 'an approval stays', approval(condition('Approved')), approval(), approval(condition('Denied')), approval(condition('Approved'), condition('Denied')), approval(condition('Approved', { message: 'changed' })), status({ conditions: [] }), status({ conditions: [condition('Approved', { message: 'changed' })] }), status({ certificate: base64(certificate) }), approval(condition('Approved'), { type: 'More', status: 'False' })),
  after('certificate', 'a certificate stays', status({ certificate: base64(certificate) }), status({ certificate: base64(certificate + certificate) }), status({ certificate: null }), spec({ usages: ['any'] }), approval(condition('Approved'))),
  after('failure', 'a failure stays', status({ conditions: [condition('Failed')] }), status({ conditions: [] }), status({ conditions: [condition('Failed', { message: 'changed' })] })),
  ...csr.puts(),
  scenario('csr-field-selector', { section: '4.3', about: 'CertificateSigningRequest: the field selector spec.signerName', namespace: false, cleanup: [csr.item] }, [
    POST(csr.list, csr.object({ 'spec.signerName': 'example.com/$ns' }), { compare: 'status' }),
    GET(csr.list, { query: { fieldSelector: 'spec.signerName=example.com/$ns' }, pick: (b) => b.items?.map((i) => i.metadata.name) ?? b }),
    GET(csr.list, { query: { fieldSelector: 'spec.username=admin' } }),
  ]),
];
