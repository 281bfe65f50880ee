import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, ObjectMeta } from '../../../../api/object.ts'
import { defaultGates } from '../../../../api/gates.ts'
import { validatePodSpec } from './spec.ts'

const container: Fields = {
  name: 'c',
  image: 'i',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'Always',
}
const spec: Fields = { containers: [container], restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' }

const pathsOf = (change: Fields, pod: ObjectMeta = { name: 'p' }): string[] =>
  validatePodSpec({ ...spec, ...change }, 'spec', { pod, gates: defaultGates }).map(
    ({ path }) => path,
  )

const inContainer = (change: Fields): Fields => ({ containers: [{ ...container, ...change }] })

test('a minimal PodSpec is valid', () => {
  assert.deepEqual(pathsOf({}), [])
})

/**
 * Changes of a valid spec, each with the expected error paths in order. The recordings cover the
 * error messages.
 */
const faults: readonly (readonly [Fields, readonly string[]])[] = [
  [{ containers: [] }, ['spec.containers']],
  [inContainer({ name: 'A', image: '' }), ['spec.containers[0].name', 'spec.containers[0].image']],
  [
    {
      volumes: [{ name: 'v', emptyDir: {} }],
      ...inContainer({ volumeMounts: [{ name: 'w', mountPath: '/' }] }),
    },
    ['spec.containers[0].volumeMounts[0].name'],
  ],
  [{ volumes: [{ name: 'V', emptyDir: {} }] }, ['spec.volumes[0].name']],
  [{ volumes: [{ name: 'v', emptyDir: {}, nfs: {} }] }, ['spec.volumes[0].nfs']],
  [{ initContainers: [{ ...container, name: 'c' }] }, ['spec.initContainers[0].name']],
  [{ hostUsers: false, hostPID: true }, ['spec.HostPID']],
  [
    { os: { name: 'linux' }, securityContext: { windowsOptions: {} } },
    ['spec.securityContext.windowsOptions'],
  ],
  [{ tolerations: [{ operator: 'Equal' }] }, ['spec.tolerations[0].operator']],
]
for (const [change, paths] of faults) {
  test(`a Pod with ${JSON.stringify(change).slice(0, 80)} is refused`, () => {
    assert.deepEqual(pathsOf(change), paths)
  })
}

test('the pod template of a workload can have an image name that is not permitted in a Pod', () => {
  const padded = inContainer({ image: ' ' })
  assert.deepEqual(
    [
      pathsOf(padded),
      validatePodSpec({ ...spec, ...padded }, 's', { pod: undefined, gates: defaultGates }),
    ],
    [['spec.containers[0].image'], []],
  )
})

test('a static Pod must not have resource claims', () => {
  const annotations = { 'kubernetes.io/config.mirror': 'x' }
  const claims = { resourceClaims: [{ name: 'a', resourceClaimName: 'a' }, { name: '' }] }
  const found = validatePodSpec({ ...spec, ...claims }, 'spec', {
    pod: { annotations },
    gates: defaultGates,
  })
  const refused = ['[]', 'Forbidden: static pods do not support resource claims']
  assert.deepEqual(
    found.map(({ path, message }) => [path, message]),
    [refused, refused],
  )
})
