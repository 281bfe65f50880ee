/** Files like those that kubeadm creates in /etc/kubernetes/pki. */
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Authority, IssuedCertificate } from './issued-certificate.ts'

type KubeadmAuthorities = {
  readonly authority: Authority
  readonly frontProxyAuthority: Authority
  readonly etcdAuthority: Authority
}

/** Writes the files of /etc/kubernetes/pki to a folder, with kubeadm's names and subjects. */
export function writeKubeadmFiles(
  pki: string,
  { authority, frontProxyAuthority, etcdAuthority }: KubeadmAuthorities,
): void {
  mkdirSync(join(pki, 'etcd'), { recursive: true })
  const put = (name: string, { certificatePem, keyPem }: IssuedCertificate): void => {
    writeFileSync(join(pki, `${name}.crt`), certificatePem)
    writeFileSync(join(pki, `${name}.key`), keyPem, { mode: 0o600 })
  }
  writeFileSync(join(pki, 'ca.crt'), authority.certificatePem)
  writeFileSync(join(pki, 'front-proxy-ca.crt'), frontProxyAuthority.certificatePem)
  writeFileSync(join(pki, 'etcd', 'ca.crt'), etcdAuthority.certificatePem)
  const names = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ]
  put(
    'apiserver',
    authority.issue({
      cn: 'kube-apiserver',
      usage: ['server'],
      hosts: [...names, '10.96.0.1', '127.0.0.1'],
    }),
  )
  put(
    'apiserver-kubelet-client',
    authority.issue({ cn: 'kube-apiserver-kubelet-client', o: ['kubeadm:cluster-admins'] }),
  )
  put('front-proxy-client', frontProxyAuthority.issue({ cn: 'front-proxy-client' }))
  put('apiserver-etcd-client', etcdAuthority.issue({ cn: 'kube-apiserver-etcd-client' }))
  put(
    'etcd/server',
    etcdAuthority.issue({
      cn: 'node',
      usage: ['server', 'client'],
      hosts: ['localhost', '127.0.0.1'],
    }),
  )
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(pki, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(join(pki, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), {
    mode: 0o600,
  })
}
