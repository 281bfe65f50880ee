import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorizers } from './authorize.ts'

const master = { name: 'm', uid: '', groups: ['system:masters', 'system:authenticated'] }
const other = { name: 'o', uid: '', groups: ['system:authenticated'] }
const question = {
  kind: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  plural: 'pods',
  subresource: '',
  namespace: 'n',
  name: 'p',
} as const

const modes = [
  ['roles', [true, false], [1, 1]],
  ['always-allow', [true, true], [1, 1]],
  ['always-deny', [true, false], [0, 0]],
] as const
for (const [mode, isAllowed, rules] of modes) {
  test(`${mode}: a master is ${isAllowed[0]}, another user ${isAllowed[1]}`, async () => {
    const { authorize, rightsOf } = authorizers[mode]
    for (const [at, user] of [master, other].entries()) {
      const decision = await authorize(user, question)
      assert.equal(decision.verdict, isAllowed[at] ? 'allow' : 'no-opinion')
      if (mode === 'always-deny' && decision.verdict !== 'allow')
        assert.equal(decision.reason, 'Everything is forbidden.')
      const { resourceRules } = rightsOf(user)
      assert.ok(mode === 'roles' ? resourceRules.length > 0 : resourceRules.length === rules[at], mode)
    }
  })
}
