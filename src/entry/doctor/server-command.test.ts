import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostPathOf, readServerCommand } from './server-command.ts'

const environment = `# written by hand
KUBE_API_ARGS="--v=2 --secure-port=6443"
KUBE_ETCD=http://etcd:2379
`
const read = (text: string) =>
  readServerCommand(text, 'file', (path) => (path === '/etc/apiserver' ? environment : undefined))

const units: readonly (readonly [why: string, lines: string, args: readonly string[]])[] = [
  [
    'plain',
    'ExecStart=/usr/bin/kube-apiserver --v=2 --secure-port 1',
    ['--v=2', '--secure-port', '1'],
  ],
  [
    'continued lines with a comment',
    'ExecStart=/usr/bin/kube-apiserver \\\n  --v=2 \\\n# --v=3 \\\n  --secure-port=1\nRestart=always',
    ['--v=2', '--secure-port=1'],
  ],
  [
    'quotes',
    `ExecStart=-/bin/kube-apiserver "--a=b \\"c" --d='e f' --g=h\\ i`,
    ['--a=b "c', '--d=e f', '--g=h i'],
  ],
  [
    'variables',
    'Environment="A=1 2" B=3\nEnvironmentFile=-/etc/apiserver\nEnvironmentFile=-/none\nExecStart=/bin/kube-apiserver $KUBE_API_ARGS $NONE --etcd-servers=${KUBE_ETCD} --c=${A}${B}',
    ['--v=2', '--secure-port=6443', '--etcd-servers=http://etcd:2379', '--c=1 23'],
  ],
]
for (const [why, lines, args] of units)
  test(`the flags of kube-apiserver are read from a systemd unit file: ${why}`, () => {
    assert.deepEqual(read(`[Unit]\nDescription=x\n\n[Service]\n${lines}\n`), { args })
  })

const pod = `apiVersion: v1
kind: Pod
metadata: { name: kube-apiserver }
spec:
  securityContext: { runAsUser: 7 }
  containers:
    - { name: proxy, image: proxy }
    - name: server
      image: registry.k8s.io/kube-apiserver:v1.33.4
      command: [/usr/local/bin/kube-apiserver]
      args: [--v=2]
      volumeMounts:
        - { name: pki, mountPath: /pki/ }
        - { name: etcd, mountPath: /pki/etcd }
        - { name: empty, mountPath: /tmp }
  volumes:
    - { name: pki, hostPath: { path: /etc/kubernetes/pki } }
    - { name: etcd, hostPath: { path: /srv/etcd } }
    - { name: empty, emptyDir: {} }
`

test('the flags, the image, the user and the volumes of a pod are read', () => {
  const command = read(pod)
  assert.ok('args' in command && command.pod !== undefined)
  assert.deepEqual(command.args, ['--v=2'])
  assert.equal(command.pod.image, 'registry.k8s.io/kube-apiserver:v1.33.4')
  assert.equal(command.pod.userId, 7)
  const paths = ['/pki/a.crt', '/pki/etcd/a.crt', '/pki/etcd', '/tmp/a', '/pkix', '/etc/a']
  assert.deepEqual(
    // Bounded: the list contains six paths.
    paths.map((path) => command.pod && hostPathOf(command.pod, path)),
    ['/etc/kubernetes/pki/a.crt', '/srv/etcd/a.crt', '/srv/etcd', undefined, undefined, undefined],
  )
})

test('a file that does not start kube-apiserver is refused', () => {
  const faults: readonly (readonly [text: string, fault: RegExp])[] = [
    ['[Service]\nExecStart=/bin/true --x\n', /^file: no ExecStart line starts kube-apiserver$/],
    [pod.replace('/kube-apiserver]', '/true]'), /^file: is neither a unit file nor a Pod/],
    ['kind: [', /^file:1: /],
    ['', /neither/],
  ]
  for (const [text, fault] of faults) {
    const command = read(text)
    assert.match('fault' in command ? command.fault : '', fault)
  }
})
