/**
 * Tests `kubectl proxy`: the responses that it forwards, and the requests that it rejects itself.
 */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { KubectlSession } from './session.ts'

const paths = [
  '/api',
  '/api/v1/namespaces/work/configmaps?limit=1',
  '/api/v1/namespaces/work/pods/absent/exec',
  '/nothing',
]

export async function proxyAnswers(session: KubectlSession): Promise<string> {
  const child = session.start(['proxy', '--port=0'])
  try {
    if (child.stdout === null) throw new Error('no output')
    const [line]: unknown[] = await once(createInterface({ input: child.stdout }), 'line', {
      signal: AbortSignal.timeout(60_000),
    })
    const [, address = ''] = /(127\.0\.0\.1:\d+)/.exec(String(line)) ?? []
    const answers = []
    for (const path of paths) {
      const response = await fetch(`http://${address}${path}`)
      answers.push(`${path}: ${response.status} ${await response.text()}`)
    }
    return answers.join('\n')
  } finally {
    if (child.exitCode === null) {
      const gone = once(child, 'exit')
      child.kill()
      await gone
    }
  }
}
