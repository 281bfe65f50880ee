/** Controllers: those of a real kube-controller-manager beside the reference, Keelson's own inside. */
import type { SetUp, SetUps } from '../set-ups.ts'

const running = (names: string, ...more: readonly string[]): SetUp => ({
  flags: ['--client-ca-file=${dir}/client-ca.pem'],
  keelsonFlags: [`--controllers=${names}`],
  manager: [`--controllers=${names}`, '--leader-elect=false', ...more],
})

export const setUps: SetUps = {
  controllers: running('namespace-controller,garbage-collector-controller'),
  'controllers-certificates': running(
    'certificatesigningrequest-approving-controller,certificatesigningrequest-cleaner-controller',
  ),
  'controllers-namespaces': running(
    'namespace-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,resourcequota-controller',
    '--root-ca-file=${dir}/apiserver.crt',
  ),
}
