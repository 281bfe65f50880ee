import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { authWhy } from './auth-why.ts'

suite('keelson auth why checks its arguments before it sends a request', () => {
  for (const [args, message] of [
    [['--as=alice', '--context'], '--context needs a value: --context=…'],
    [['--as=alice', '-n'], '--namespace needs a value: --namespace=…'],
    [['--as=alice', '--contxt=a'], 'unknown flag: --contxt; did you mean --context?'],
    [['--as=alice', '-x'], 'unknown flag: -x; keelson auth why --help lists the flags'],
    [['--as=alice', '--all-namespaces=x'], '--all-namespaces does not take a value'],
    [['--as=alice', '--context', '-A'], '--context needs a value: --context=…'],
    [['get', 'pods'], '--as is required, for example --as=alice'],
    [
      ['--as=alice', 'get', 'pods'],
      'stat /none/config: no such file or directory: name a kubeconfig with --kubeconfig or KUBECONFIG',
    ],
  ] as const)
    test(args.join(' '), async () => {
      await assert.rejects(authWhy(args, { defaultKubeconfig: '/none/config' }), { message })
    })
})
