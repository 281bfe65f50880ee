import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admit, anObject, attributes } from '../../test/support/harness/admission.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import {
  certificateSubjectRestriction,
  createCertificateApproval,
  createCertificateSigning,
  createClusterTrustBundleAttest,
  type MayDo,
} from './certificates.ts'

const kit = new URL('../../test/recorded/compat/scenarios/kit/csr.mjs', import.meta.url).href
const { mastersRequest, personRequest }: { mastersRequest: string; personRequest: string } =
  await import(kit)

const request = (spec: Fields, status: Fields = {}) =>
  anObject('CertificateSigningRequest', 'r', {
    spec: { signerName: 'example.com/s', ...spec },
    status,
  })

const update = (subresource: string, object: KubeObject, oldObject: KubeObject) =>
  attributes({
    plural: 'certificatesigningrequests',
    group: 'certificates.k8s.io',
    operation: 'UPDATE',
    subresource,
    object,
    oldObject,
  })

const allowing =
  (right: string): MayDo =>
  async (_, { verb, plural, name }) =>
    `${verb} ${plural} ${name}` === right

const about = '403 certificatesigningrequests.certificates.k8s.io "r" is forbidden: '

test('approving a CSR requires access to its signer, or to all signers of its domain', async () => {
  const object = request({})
  const approve = (mayDo: MayDo) =>
    admit(createCertificateApproval(mayDo), update('approval', object, object))
  assert.equal(await approve(allowing('approve signers example.com/s')), object)
  assert.equal(await approve(allowing('approve signers example.com/*')), object)
  const refused = `${about}user not permitted to approve requests with signerName "example.com/s"`
  assert.equal(await approve(allowing('sign signers example.com/s')), refused)
})

test('signing a CSR requires access to its signer, unless the update changes nothing', async () => {
  const [unsigned, signed] = [request({}), request({}, { certificate: 'abc' })]
  const sign = (object: KubeObject) =>
    admit(createCertificateSigning(allowing('')), update('status', object, unsigned))
  assert.equal(await sign(unsigned), unsigned)
  assert.equal(
    await sign(signed),
    `${about}user not permitted to sign requests with signerName "example.com/s"`,
  )
  const granted = createCertificateSigning(allowing('sign signers example.com/*'))
  assert.equal(await admit(granted, update('status', signed, unsigned)), signed)
})

const create = async (spec: Fields): Promise<string> => {
  const [plural, group] = ['certificatesigningrequests', 'certificates.k8s.io']
  const admitted = await admit(
    certificateSubjectRestriction,
    attributes({ plural, group, object: request(spec) }),
  )
  return typeof admitted === 'string' ? admitted : 'fine'
}

test('a client certificate cannot grant membership in system:masters', async () => {
  const signerName = 'kubernetes.io/kube-apiserver-client'
  assert.equal(
    await create({ request: mastersRequest, signerName }),
    `${about}use of ${signerName} signer with system:masters group is not allowed`,
  )
  assert.equal(await create({ request: personRequest, signerName }), 'fine')
  assert.equal(await create({ request: mastersRequest }), 'fine')
  assert.match(await create({ request: '', signerName }), /failed to parse CSR/)
})

const bundle = (metadata: Fields, signerName = 'example.com/s', trustBundle = 'x') =>
  anObject('ClusterTrustBundle', 'b', {
    metadata: { name: 'b', ...metadata },
    spec: { signerName, trustBundle },
  })

const attest = (mayDo: MayDo, object: KubeObject, oldObject?: KubeObject) => {
  const [plural, group] = ['clustertrustbundles', 'certificates.k8s.io']
  const operation = oldObject === undefined ? 'CREATE' : 'UPDATE'
  const given = attributes({ plural, group, operation, object, ...(oldObject && { oldObject }) })
  return admit(createClusterTrustBundleAttest(mayDo), given)
}

test('writing a ClusterTrustBundle of a signer requires the verb attest on that signer', async () => {
  const refused =
    '403 clustertrustbundles.certificates.k8s.io "b" is forbidden: user not permitted to attest for signerName "example.com/s"'
  const [one, anonymous] = [bundle({}), bundle({}, '')]
  assert.equal(await attest(allowing(''), one), refused)
  assert.equal(await attest(allowing('attest signers example.com/*'), one), one)
  assert.equal(await attest(allowing(''), anonymous), anonymous)
  const finalized = bundle({ finalizers: ['a/b'] })
  assert.equal(await attest(allowing(''), finalized, one), finalized)
  assert.equal(await attest(allowing(''), bundle({}, 'example.com/s', 'y'), one), refused)
})
