/**
 * Set-ups with controllers: a real kube-controller-manager with kube-apiserver, and Keelson's own
 * controllers.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SetUp, SetUps } from '../set-ups.ts'

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, '..', 'fixtures', name), 'utf8')

const running = (names: string, ...more: readonly string[]): SetUp => ({
  flags: ['--client-ca-file=${dir}/client-ca.pem'],
  keelsonFlags: [`--controllers=${names}`],
  manager: [`--controllers=${names}`, '--leader-elect=false', ...more],
})

const signing = [
  '--cluster-signing-cert-file=${dir}/signing-ca.pem',
  '--cluster-signing-key-file=${dir}/signing-ca-key.pem',
  '--cluster-signing-duration=24h',
]
const signer = running('certificatesigningrequest-signing-controller', ...signing)
const unordered = '--feature-gates=OrderedNamespaceDeletion=false'
const namespaces = running('namespace-controller', unordered)

export const setUps: SetUps = {
  controllers: running('namespace-controller,garbage-collector-controller'),
  'controllers-certificates': running(
    'certificatesigningrequest-approving-controller,certificatesigningrequest-cleaner-controller',
  ),
  'controllers-bootstrap': running('bootstrap-signer-controller'),
  'controllers-signing': {
    ...signer,
    keelsonFlags: [...(signer.keelsonFlags ?? []), ...signing],
    files: {
      'signing-ca.pem': fixture('signing-ca.pem'),
      'signing-ca-key.pem': fixture('signing-ca-key.pem'),
    },
  },
  'controllers-unordered': { ...namespaces, flags: [...namespaces.flags, unordered] },
  'controllers-namespaces': running(
    'namespace-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,resourcequota-controller',
    '--root-ca-file=${dir}/apiserver.crt',
  ),
}
